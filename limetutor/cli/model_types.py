"""Which types a model file may hold, by their exact names.

A skops file names every type it needs, and whoever wrote the file chose the names. So the list is of
exact names, and for each kind of node of the file: a class may be made, but is never called as a
function, and of functions there are numpy's elementary ones alone. Other names need ``--trust``.
What only fitting needs (random states, optimizers, scorers, search trees) is not loaded at all.
"""

from functools import cache

from ..exact.read_sklearn import SCALERS
from ..exact.readers import FAMILIES, RAW_OUTPUTS

# estimators of scikit-learn that the command calls, besides those that limits are computed of
CALLED = """
    AdaBoostClassifier AdaBoostRegressor BaggingClassifier BaggingRegressor BernoulliNB
    CalibratedClassifierCV CategoricalNB ComplementNB DummyClassifier DummyRegressor
    GammaRegressor GaussianNB GaussianProcessClassifier GridSearchCV IsotonicRegression
    KNeighborsClassifier KNeighborsRegressor LinearDiscriminantAnalysis MLPClassifier
    MultiOutputRegressor MultinomialNB NuSVC OneVsOneClassifier OneVsRestClassifier PLSRegression
    PoissonRegressor QuadraticDiscriminantAnalysis RANSACRegressor RandomizedSearchCV SVC
    StackingClassifier StackingRegressor TransformedTargetRegressor TweedieRegressor
    VotingClassifier VotingRegressor
""".split()
TRANSFORMERS = """
    Binarizer ColumnTransformer FeatureUnion FunctionTransformer GenericUnivariateSelect
    KBinsDiscretizer KNNImputer LabelBinarizer LabelEncoder MissingIndicator Normalizer
    OneHotEncoder OrdinalEncoder PCA PolynomialFeatures PowerTransformer QuantileTransformer
    SelectFdr SelectFpr SelectFromModel SelectFwe SelectKBest SelectPercentile SimpleImputer
    TargetEncoder TruncatedSVD VarianceThreshold
""".split()


def _names(module: str, names: str) -> list[str]:
    return [f"{module}.{name}" for name in names.split()]


# classes that those keep in their attributes
PARTS = [
    *_names("sklearn._loss.link", "HalfLogitLink IdentityLink Interval LogLink LogitLink"),
    *_names("sklearn._loss.link", "MultinomialLogit"),
    *_names("sklearn._loss.loss", "AbsoluteError ExponentialLoss HalfBinomialLoss HalfGammaLoss"),
    *_names("sklearn._loss.loss", "HalfMultinomialLoss HalfPoissonLoss HalfSquaredError HuberLoss"),
    *_names("sklearn._loss.loss", "HalfTweedieLoss HalfTweedieLossIdentity PinballLoss"),
    *_names("sklearn.calibration", "_CalibratedClassifier _SigmoidCalibration _TemperatureScaling"),
    *_names("sklearn.compose._column_transformer", "_RemainderColsList make_column_selector"),
    *_names("sklearn.ensemble._hist_gradient_boosting.binning", "_BinMapper"),
    *_names("sklearn.ensemble._hist_gradient_boosting.predictor", "TreePredictor"),
    *_names("sklearn.gaussian_process._gpc", "_BinaryGaussianProcessClassifierLaplace"),
    *_names("sklearn.gaussian_process.kernels", "ConstantKernel DotProduct ExpSineSquared"),
    *_names("sklearn.gaussian_process.kernels", "Exponentiation Matern Product RBF"),
    *_names("sklearn.gaussian_process.kernels", "RationalQuadratic Sum WhiteKernel"),
    *_names("sklearn.multiclass", "_ConstantPredictor"),
]
NUMBERS = _names("numpy", "float64 float32 float16 int64 int32 int16 int8 uint64 uint32 uint16")
NUMBERS += _names("numpy", "uint8 bool bool_ str_")
# functions of a FunctionTransformer: each maps numbers to numbers
ELEMENTARY = _names(
    "numpy",
    "absolute arcsinh arctan cbrt ceil cos exp exp2 expm1 fabs floor log log10 log1p log2 negative "
    "positive reciprocal rint sign sin sinh sqrt square tan tanh trunc",
)
CHECK_ARRAY = "sklearn.utils.validation.check_array"  # of trees with categorical splits

# names by the kind of node; those of estimators are added by :func:`trusted_types`
NAMES: dict[str, list[str]] = {
    "DictNode": ["builtins.dict", "collections.OrderedDict", "sklearn.utils._bunch.Bunch"],
    "DefaultDictNode": ["collections.defaultdict"],
    "ListNode": ["builtins.list"],
    "SetNode": ["builtins.set"],
    "TupleNode": ["builtins.tuple"],
    "SliceNode": ["builtins.slice"],
    "BytesNode": ["builtins.bytes"],
    "BytearrayNode": ["builtins.bytearray"],
    "NdArrayNode": ["numpy.ndarray", *NUMBERS],
    "DTypeNode": ["numpy.dtype"],
    "SparseMatrixNode": [
        *_names("scipy.sparse._csr", "csr_matrix csr_array"),
        *_names("scipy.sparse._csc", "csc_matrix csc_array"),
    ],
    "TypeNode": [
        *_names("builtins", "bool float int object str"), *NUMBERS,
        "collections.OrderedDict",
    ],
    "FunctionNode": [*ELEMENTARY, CHECK_ARRAY],
    "TreeNode": ["sklearn.tree._tree.Tree"],
    "ObjectNode": PARTS,
}  # fmt: skip

# kinds of node, and names, of what only fitting needs: None is put in their place
# (masked arrays are results of a search, and checks would not see what a mask hides)
FITTING_NODES = ("LossNode", "RandomStateNode", "RandomGeneratorNode", "MaskedArrayNode")
FITTING_NAMES = frozenset(
    [
        *_names("sklearn.neighbors._kd_tree", "KDTree KDTree32 KDTree64"),  # built anew
        *_names("sklearn.neighbors._ball_tree", "BallTree BallTree32 BallTree64"),
        *_names("sklearn.neural_network._stochastic_optimizers", "AdamOptimizer SGDOptimizer"),
        *_names("sklearn.metrics._scorer", "_MultimetricScorer _PassthroughScorer _Scorer"),
        *_names("sklearn.model_selection._split", "GroupKFold KFold LeaveOneOut PredefinedSplit"),
        *_names("sklearn.model_selection._split", "RepeatedKFold RepeatedStratifiedKFold"),
        *_names("sklearn.model_selection._split", "ShuffleSplit StratifiedKFold TimeSeriesSplit"),
        *_names("sklearn.feature_selection._univariate_selection", "chi2 f_classif f_regression"),
        *_names("sklearn.feature_selection._mutual_info", "mutual_info_classif"),
        *_names("sklearn.feature_selection._mutual_info", "mutual_info_regression"),
    ]
)


@cache
def trusted_types() -> dict[str, frozenset[str]]:
    """The names that each kind of node may have."""
    from sklearn.utils import all_estimators

    known = (*FAMILIES, *RAW_OUTPUTS, *SCALERS)
    read = {name for package, name in known if package == "sklearn"}
    wanted = read.union(CALLED, TRANSFORMERS)
    estimators = [
        f"{found.__module__}.{found.__qualname__}"
        for name, found in all_estimators()
        if name in wanted and found.__module__.startswith("sklearn.")
    ]
    return {kind: frozenset(names) for kind, names in NAMES.items()} | {
        "ObjectNode": frozenset([*PARTS, *estimators])
    }
