"""New examples: samplers have the laws they claim."""

from sampled_values import LEVEL, drawn
from scipy import stats
from sklearn.datasets import load_diabetes

import limetutor as lt


def test_values_inside_a_box_follow_a_normal_with_the_moments_of_the_box_truncated_to_it():
    world = lt.Empirical(load_diabetes().data, p=4)
    boxes, x, _ = drawn("bins", world, world.table[0], 40_000, 9)
    j = 2  # bmi, without ties at its quartiles
    own = boxes.discretize(x)[:, j]
    ends = [world.table[:, j].min(), *boxes.edges[j], world.table[:, j].max()]
    inside = boxes.discretize(world.table)[:, j]
    for k in range(4):
        values = world.table[inside == k, j]
        mean, sd = values.mean(), values.std()
        a, b = (ends[k] - mean) / sd, (ends[k + 1] - mean) / sd
        law = stats.truncnorm(a, b, mean, sd)
        assert stats.kstest(x[own == k, j], law.cdf).pvalue > LEVEL / 4
