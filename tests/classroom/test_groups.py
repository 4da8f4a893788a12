"""Control groups, in a folder that looks like version 2; `test_session.py` has one of the kernel's."""

from limetutor.classroom import groups


def test_version_2_takes_the_nearest_group_that_limits_memory(tmp_path, monkeypatch):
    """A process in user/app, where memory is limited by the groups in user."""
    (tmp_path / "self").write_text("0::/user/app\n")
    monkeypatch.setattr(groups, "ROOT", tmp_path)
    monkeypatch.setattr(groups, "OWN", tmp_path / "self")
    (tmp_path / "user/app").mkdir(parents=True)
    for folder, controllers in (("", "memory"), ("user", "memory pids"), ("user/app", "cpu")):
        (tmp_path / folder / "cgroup.subtree_control").write_text(controllers)
    group = groups.memory_group(5000, 42)
    folder = group._folder
    assert folder.parent == tmp_path / "user" and (folder / "memory.max").read_text() == "5000"
    assert (folder / "cgroup.procs").read_text() == "42"
    for count, exceeded in (("0", False), ("1", True)):
        (folder / "memory.events").write_text(f"oom 1\noom_kill {count}\n")
        assert group.exceeded is exceeded
