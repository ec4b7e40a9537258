"""archsim: a cycle-approximate simulator of NPU cores that run PTO tile instructions."""

__version__ = "0.1.0"
