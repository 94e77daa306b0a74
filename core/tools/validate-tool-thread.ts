import { readFileSync } from 'node:fs';
import type { ProviderDefinition } from '../connectors/provider.ts';
import type { FieldError } from '../errors.ts';
import { createDefinitionSchema, type DefinitionSchema } from './definition-schema.ts';
import type { JsonSchema, ToolDefinition } from './tool.ts';
import { createToolRules, type ToolRules } from './tool-rules.ts';
import type { ValidationRequest } from './tool-validator.ts';

const MAX_ERRORS = 20;

interface Validator {
  schema: DefinitionSchema;
  rules: ToolRules;
}

let validator: Validator | undefined;

/** Checks a tool definition; the worker thread of `validationJob` calls this function. @returns at most 20 errors */
export function run({ folder, definition, provider }: ValidationRequest): FieldError[] {
  validator ??= createValidator(folder);
  const tool = JSON.parse(definition) as ToolDefinition;
  const misfits = validator.schema.checkTool(tool);
  const errors = misfits.length > 0 ? misfits : validator.rules.check(tool, JSON.parse(provider) as ProviderDefinition);
  return errors.slice(0, MAX_ERRORS);
}

function createValidator(folder: string): Validator {
  const schema = (name: string) =>
    JSON.parse(readFileSync(new URL(`${name}.schema.json`, folder), 'utf8')) as JsonSchema;
  return {
    schema: createDefinitionSchema({ tool: schema('tool'), connector: schema('connector') }),
    rules: createToolRules(),
  };
}
