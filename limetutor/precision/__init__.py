"""How far a sampled explanation is from its limit, and samplers and fits that bring it nearer."""

# imported for what they register: samplers, and options of explain and limit
from . import adjustment as adjustment
from . import batches as batches
from . import diagnostics as diagnostics
from . import finite_n as finite_n
from . import gaussian_and_tilted_samplers as gaussian_and_tilted_samplers
from . import monte_carlo as monte_carlo
from . import sobol_sampler as sobol_sampler
from . import stability as stability
from . import stopping as stopping
