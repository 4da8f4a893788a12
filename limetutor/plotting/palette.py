"""The colours of every picture and page, named by what they stand for; needs no matplotlib."""

# role: (light, dark).  Every pair but the decorative grid and paper has a contrast of at least 3:1
# with its page (white, #14181e), and the hues differ in lightness for colour-blind readers.
PALETTE: dict[str, tuple[str, str]] = {
    "ink": ("#20262e", "#d5dce4"),  # axes, text, the model f itself
    "muted": ("#626b77", "#9aa5b1"),  # what should recede: references, annotations
    "grid": ("#d5dae0", "#3b4552"),  # decoration only
    "paper": ("#fffffe", "#14181e"),  # the page behind: halos, edges of markers
    "xi": ("#c8102e", "#ff6b5e"),  # ξ, the example explained
    "box": ("#00805c", "#36c79b"),  # quantile boxes and their edges
    "sample": ("#7656a4", "#b89be2"),  # samples and their weights
    "surrogate": ("#0067a8", "#5cb4f2"),  # what LIME fits, empirical coefficients
    "truth": ("#b35a00", "#f3a34a"),  # theory: the limit, the predicted value
    "against": ("#6f4a2f", "#b0764a"),  # a negative sign: counts against, opposes the slope
    "alarm": ("#90007a", "#d04ee0"),  # what to doubt: at risk, missed, switched off, mistaken
    "lime": ("#8b9a1f", "#d9ff4d"),  # what the real lime package returns
}


def as_variables(shade: int) -> str:
    """The palette as CSS variables, ``--lt-ink:#20262e;…``: shade 0 is light, 1 dark."""
    return "".join(f"--lt-{role}:{shades[shade]};" for role, shades in PALETTE.items())
