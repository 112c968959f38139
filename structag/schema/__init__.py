"""JSON Schema: from a schema to a grammar of JSON text, or of tool-call arguments."""

from structag.schema.lower import lower_schema
from structag.schema.options import SchemaOptions

__all__ = ["SchemaOptions", "lower_schema"]
