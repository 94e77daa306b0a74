import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { FieldError } from '../errors.ts';
import { dotted } from './field-path.ts';
import type { JsonSchema } from './tool.ts';

/** The JSON Schemas of tool and connector definitions. */
export interface DefinitionSchemas {
  /** catalogue/tool.schema.json, which refers to the other schema. */
  tool: JsonSchema;
  /** catalogue/connector.schema.json */
  connector: JsonSchema;
}

export interface DefinitionSchema {
  /** @returns one entry per invalid place */
  checkTool(data: unknown): FieldError[];
  checkConnector(data: unknown): FieldError[];
}

/** Compiles the schemas of tools and connectors, for the catalogue's check and the API. */
export function createDefinitionSchema({ tool, connector }: DefinitionSchemas): DefinitionSchema {
  // These checks of strict mode are disabled, because the schemas use conditions: the type and the declaration of a
  // member may be in different places.
  // `verbose` adds the schema to each error, for the names of the allowed fields.
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true, verbose: true });
  formats.default(ajv);
  const connectors = ajv.compile(connector);
  const tools = ajv.compile(tool);
  return { checkTool: (data) => violations(tools, data), checkConnector: (data) => violations(connectors, data) };
}

function violations(validate: ValidateFunction, data: unknown): FieldError[] {
  if (validate(data)) return [];
  // A failed condition (`if`) is not reported, because the error inside its branch is.
  return (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if').map(fieldError);
}

function fieldError({ instancePath, keyword, message = 'is invalid', params, parentSchema }: ErrorObject): FieldError {
  const field = dotted(instancePath);
  const child = (name: unknown) => (field ? `${field}.${String(name)}` : String(name));
  switch (keyword) {
    case 'required':
      return { field: child(params['missingProperty']), message: 'is required' };
    case 'additionalProperties':
      return { field: child(params['additionalProperty']), message: unknownField(parentSchema?.['properties']) };
    case 'false schema':
      return { field, message: 'unknown field' };
    case 'enum':
      return { field, message: `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}` };
    default:
      return { field: field || 'body', message };
  }
}

function unknownField(properties: object = {}): string {
  const allowed = Object.keys(properties);
  return allowed.length === 0 ? 'unknown field' : `unknown field (allowed: ${allowed.join(', ')})`;
}
