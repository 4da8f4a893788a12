"""Runs of `lime` itself on texts and images, beside what was predicted of them."""

import numpy as np

RUNS = 20
FEW = 10  # in `make test`


def in_runs(explainer, f, instance, d, runs=RUNS, columns=1, **how):
    """Intercepts and coefficients that `lime` prints, (runs, columns, 1 + d); nan: not chosen."""
    found = np.full((runs, columns, 1 + d), np.nan)
    labels = range(columns) if columns > 1 else (1,)
    how = {"labels": labels, "top_labels": None} | how
    for r in range(runs):
        explanation = explainer.explain_instance(instance, f, **how)
        for c, label in enumerate(labels):
            found[r, c, 0] = explanation.intercept[label]
            for j, value in explanation.local_exp[label]:
                found[r, c, 1 + j] = value
    return found


def scores(runs, found):
    """How far means of runs are from the prediction, in their own standard errors."""
    expected = np.append(found.intercept, found.coef)
    error = runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
    return (runs.mean(axis=0) - expected) / np.maximum(error, 1e-9)


def of_all(runs, found):
    """Scores and ratios of deviations, of every prediction."""
    scored = [scores(runs[:, c], prediction) for c, prediction in enumerate(found)]
    spreads = runs[:, :, 1:].std(axis=0, ddof=1)
    ratios = [np.median(p.sd / spread) for p, spread in zip(found, spreads, strict=True)]
    return np.concatenate(scored), np.array(ratios)


def verify_all(verified, what, scored, ratios):
    """What became of all scores and ratios, for docs/verified.md."""
    within = np.concatenate(scored)
    share = float(np.mean(np.abs(within) <= 4))
    verified(f"{what}: share of {len(within)} coefficients within 4", share, (0.95, None))
    verified(f"{what}: mean square score (1.12 by chance)", np.mean(within**2), "noted")
    verified(f"{what}: median ratio of sd", np.median(ratios), (0.85, 1.15))


def judge(runs, found):
    """Means of the coefficients, and how often they are chosen."""
    often = np.sum(~np.isnan(runs), axis=0)
    seen = often >= 6
    spread = np.nanstd(runs[:, seen], axis=0, ddof=1) / np.sqrt(often[seen])
    off = np.abs(np.nanmean(runs[:, seen], axis=0) - found.coef[seen])
    assert np.mean(off <= 6 * np.hypot(spread, found.stderr[seen]) + 1e-9) >= 0.95
    # 4 standard deviations and one run
    chance = np.sqrt(found.selection * (1 - found.selection) / len(runs))
    assert np.all(np.abs(often / len(runs) - found.selection) <= 4 * chance + 1 / len(runs))
