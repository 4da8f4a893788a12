"""The sandbox: what is hidden in it."""

from limetutor.classroom import sandbox


def test_limetutor_is_hidden_wherever_it_is(tmp_path, monkeypatch):
    """Beside the interpreter, in the system's packages, or as a clone in a folder that is mounted."""
    for place in ("site-packages", "python3.99/dist-packages", "src"):
        (tmp_path / place / "limetutor").mkdir(parents=True)
    (tmp_path / "src" / "assignments").mkdir()
    (tmp_path / "src" / "assignments" / "the_audit.ipynb").touch()
    monkeypatch.setattr(sandbox, "PACKAGE", tmp_path / "src" / "limetutor")
    hidden = set(sandbox._hidden({"/in": str(tmp_path), "/other": str(tmp_path / "python3.99")}))
    assert hidden == {
        "/in/site-packages/limetutor", "/in/python3.99/dist-packages/limetutor", "/in/src",
        "/in/src/limetutor", "/other/dist-packages/limetutor",
    }  # fmt: skip
