// Reads a list of MCP tools from stdin as clients with the SDK for TypeScript do: zod, then Ajv.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const require = createRequire(`${process.argv[2]}/`);
const { ListToolsResultSchema } = require("@modelcontextprotocol/sdk/types.js");
const { AjvJsonSchemaValidator } = require("@modelcontextprotocol/sdk/validation/ajv");
const { tools } = ListToolsResultSchema.parse({ tools: JSON.parse(readFileSync(0, "utf-8")) });
const validator = new AjvJsonSchemaValidator();
for (const tool of tools) {
  if (tool.outputSchema) validator.getValidator(tool.outputSchema);
}
console.log(tools.length);
