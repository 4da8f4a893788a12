"""What ``print`` shows of a result about one instance: its coefficients, largest first."""

from typing import Any

MAX_PRINTED = 10  # coefficients


def printed(result: Any) -> str:
    """A headline, the coefficients with their boxes, and sentences about the fit."""
    lines, order = [result._headline()], result.order()
    for j in order[:MAX_PRINTED]:
        error = f" ± {result.stderr[j]:<8.2g}" if result._is_noisy else ""
        box = " ".join(result.box_names[j].split())  # a name with a line break is no second line
        lines.append(f"  {result.coef[j]:+10.4g}{error} {box}")
    if len(order) > MAX_PRINTED:
        lines.append(f"  ... and {len(order) - MAX_PRINTED} more")
    lines += [f"  {text}" for text in result._closing("xi")]
    if result.notes_in_repr:
        lines += [f"  warning: {text}" for text in result.warnings]
    return "\n".join(lines)
