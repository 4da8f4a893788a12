"""Exercises of the appendix *Reading the paper*."""

from ..judging.kinds import Given, Paragraph, Value, one_of, with_hints

EXERCISES = (
    Value(
        given={
            "alpha": Given(0.3, "α", one_of(0.15, 0.2, 0.25, 0.4)),
            "beta": Given(-3.0, "the coefficient", lambda rng: -float(rng.integers(4, 9))),
        },
        asks="a penalty",
        right=lambda alpha, beta: alpha * (1 - alpha) * abs(beta),
        mistakes=with_hints(
            lambda alpha, beta: alpha * abs(beta),
            "The variance of an indicator with mean α is not α.",
            lambda alpha, beta: abs(beta) / (alpha * (1 - alpha)),
            "You divided by the variance. Solve the threshold for the penalty.",
            lambda alpha, beta: alpha * (1 - alpha) * beta**2,
            "The lasso penalises absolute values, not squares.",
            lambda alpha, beta: 2 * alpha * (1 - alpha) * abs(beta),
            "The factor of 2 is in the penalty already.",
        ),
        nudge="By how much does the lasso shrink a coefficient, and when is nothing left?",
        formula="Nothing is left when λ/s is as large as the coefficient; s is α(1 − α).",
        step="s is {alpha} · (1 − {alpha}). Multiply it by the size of the coefficient.",
    ),
    Paragraph(
        rubric=[
            "What is printed: a bound on how often the norm of the difference exceeds t, and that its "
            "proof bounds each entry of the matrix by t.",
            "Why one does not follow from the other: a matrix whose entries are up to t can have a norm up "
            "to d + 1 times as large.",
            "Evidence that it matters, with numbers: in five dimensions 44% of the runs exceed what the "
            "bound allows in 1%.",
            "A repair: replace t by t/(d + 1), in the exponent as well.",
            "What stands: the rate and the limit; what does not: the explicit number of samples.",
            "It is kind, and says how it was checked, so that the authors can check it too.",
        ],
        fewest=40,
    ),
)
