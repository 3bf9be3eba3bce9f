from tests.support.small_example import small, small_queries

__all__ = ["small", "small_queries"]
