import { staticFieldsOf } from '../core/connectors/auth-pattern.ts';
import { isCallerHeader } from '../core/connectors/header-names.ts';
import { builtInProvider, type Connector } from '../core/connectors/provider.ts';
import { ApiError } from '../core/errors.ts';
import { prepareCall } from '../core/tools/call.ts';
import { FILE_FORMAT, fileInputSchema, isFileSchema } from '../core/tools/file-input.ts';
import { assertLocalSchema, createInputChecker, schemaCompiler } from '../core/tools/input.ts';
import { isRecord } from '../core/tools/pointer.ts';
import type { JsonSchema } from '../core/tools/tool.ts';
import type { ToolFile } from './catalogue-files.ts';
import { type References, referencesOf } from './catalogue-references.ts';

type ToolData = ToolFile['data'];

/** What the schema of a tool cannot say. */
export function createToolRules(): { check(tool: ToolData, fileName: string, connector: Connector): string[] } {
  const ajv = schemaCompiler();
  const inputs = createInputChecker();

  const checkSchemas = (tool: ToolData): string[] =>
    (['input_schema', 'output_schema'] as const).flatMap((key) => {
      try {
        assertLocalSchema(tool[key]);
        ajv.compile(tool[key]);
        return [];
      } catch (error) {
        return [`${key}: ${error instanceof Error ? error.message : String(error)}`];
      }
    });

  /** An example is a promise: it must pass the schema and give a request, for each way of authenticating. */
  const checkExamples = (tool: ToolData, connector: Connector): string[] =>
    tool.examples.flatMap(({ input }, index) => {
      try {
        for (const pattern of connector.auth_patterns) {
          const call = {
            tool: { ...tool, connector: connector.identifier },
            provider: builtInProvider(connector),
            pattern,
          };
          prepareCall(
            { ...call, account: sampleAccount(connector), toolInput: input, executionId: 'exec_example' },
            inputs,
          );
        }
        return [];
      } catch (error) {
        const details =
          error instanceof ApiError ? (error.errors ?? []).map(({ field, message }) => `${field} ${message}`) : [];
        return [`examples[${index}]: ${details.join('; ') || String(error)}`];
      }
    });

  return {
    check: (tool, fileName, connector) => {
      const references = referencesOf(tool);
      const shape = [
        ...checkName(tool, fileName, connector),
        ...checkHints(tool),
        ...checkRequest(tool),
        ...closedProblems(tool.input_schema, 'input_schema'),
        ...checkReferences(tool, references, connector),
        ...checkFiles(tool, references),
        ...checkScopes(tool, connector),
        ...checkSchemas(tool),
      ];
      return shape.length > 0 ? shape : checkExamples(tool, connector);
    },
  };
}

function checkName({ name }: ToolData, fileName: string, connector: Connector): string[] {
  const problems: string[] = [];
  if (name !== fileName) problems.push(`name ${name} differs from the file's name`);
  if (!name.startsWith(`${connector.identifier}_`)) problems.push(`name must start with ${connector.identifier}_`);
  return problems;
}

function checkHints({ hints, request: { method } }: ToolData): string[] {
  const problems: string[] = [];
  if (hints.read_only && hints.destructive) problems.push('hints: a read is never destructive');
  if (hints.read_only && !hints.idempotent) problems.push('hints: a read is idempotent');
  if (hints.reason) return problems;
  const reads = method === 'GET' || method === 'HEAD';
  if (reads && !hints.read_only) problems.push(`hints: ${method} is read_only unless a reason is given`);
  if (!reads && method !== 'POST' && hints.read_only)
    problems.push(`hints: ${method} is not read_only unless a reason is given`);
  if (method === 'DELETE' && !(hints.destructive && hints.idempotent)) {
    problems.push('hints: DELETE is destructive and idempotent unless a reason is given');
  }
  if (method === 'PUT' && !hints.idempotent) problems.push('hints: PUT is idempotent unless a reason is given');
  return problems;
}

function checkRequest({ request, pagination }: ToolData): string[] {
  const problems: string[] = [];
  const hasBody = request.body !== undefined && request.body.format !== 'none';
  if (hasBody && (request.method === 'GET' || request.method === 'HEAD'))
    problems.push(`request: ${request.method} has no body`);
  const styled = (request.parameters ?? []).filter((parameter) => parameter.in === 'header');
  for (const name of [...Object.keys(request.headers ?? {}), ...styled.map((parameter) => parameter.name)]) {
    if (!isCallerHeader(name)) problems.push(`request.headers: ${name} cannot be set by a tool`);
  }
  if (pagination?.request?.in === 'body' && (!hasBody || !pagination.request.name.startsWith('/'))) {
    problems.push('pagination: in the body the place is a JSON pointer, and there must be a body');
  }
  return problems;
}

function checkReferences(tool: ToolData, references: References, connector: Connector): string[] {
  const schema = tool.input_schema as { properties?: Record<string, JsonSchema>; required?: string[] };
  const properties = schema.properties ?? {};
  const problems = [...references.problems];
  for (const name of references.inputs) {
    if (!Object.hasOwn(properties, name)) problems.push(`the templates take ${name}, which input_schema does not have`);
  }
  for (const name of Object.keys(properties)) {
    if (!references.inputs.has(name)) problems.push(`input_schema has ${name}, which no template takes`);
  }
  for (const name of references.pathInputs) {
    const present = schema.required?.includes(name) || properties[name]?.['default'] !== undefined;
    if (!present && !name.startsWith('account.')) problems.push(`${name} stands in the path, so it must be required`);
  }
  for (const name of references.account) {
    for (const pattern of connector.auth_patterns) {
      const fields = [
        ...staticFieldsOf(pattern).filter((field) => field.is_path_param),
        ...(pattern.account_fields ?? []),
      ];
      if (!fields.some((field) => field.field_name === name)) {
        problems.push(`the templates take account.${name}, which accounts of type ${pattern.type} do not have`);
      }
    }
  }
  return problems;
}

/** A file has one shape everywhere, so that a client learns it once. */
function checkFiles(tool: ToolData, references: References): string[] {
  const properties = (tool.input_schema as { properties?: Record<string, JsonSchema> }).properties ?? {};
  return Object.entries(properties).flatMap(([name, schema]) => {
    const taken = references.files.has(name);
    if (!isFileSchema(schema)) return taken ? [`${name} is taken by $file and is no file input`] : [];
    const file = schema['format'] === FILE_FORMAT ? schema : (schema['items'] as JsonSchema);
    const members = Object.keys(isRecord(file['properties']) ? file['properties'] : {});
    const usual = Object.keys(fileInputSchema('')['properties'] as object);
    return [
      ...(taken ? [] : [`${name} is a file, which $file takes`]),
      ...(usual.join() === members.join() ? [] : [`${name} is a file, so its members are ${usual.join(', ')}`]),
    ];
  });
}

function checkScopes({ scopes }: ToolData, connector: Connector): string[] {
  const known = new Set(
    connector.auth_patterns.flatMap((pattern) =>
      (pattern.oauth_config?.available_scopes ?? []).map(({ scope }) => scope),
    ),
  );
  const unknown = scopes.flat().filter((scope) => !known.has(scope));
  return unknown.map((scope) => `scopes: ${scope} is not in available_scopes of the connector`);
}

/** Every object says what else it takes, and every value what it is, unless a comment says why it is open. */
function closedProblems(schema: unknown, path: string): string[] {
  if (!isRecord(schema)) return [];
  if (typeof schema['$comment'] === 'string' && schema['$comment'].startsWith('open:')) return [];
  const problems: string[] = [];
  const says = ['type', 'enum', 'const', 'oneOf', 'anyOf', 'allOf', 'not', 'required', 'if'].some((key) =>
    Object.hasOwn(schema, key),
  );
  if (!says) problems.push(`${path} does not say what it takes`);
  const isObject = [schema['type']].flat().includes('object') || Object.hasOwn(schema, 'properties');
  const others = schema['additionalProperties'];
  if (isObject && others !== false && !isRecord(others)) problems.push(`${path} must state additionalProperties`);
  const isList = [schema['type']].flat().includes('array');
  if (isList && !isRecord(schema['items'])) problems.push(`${path} must state items`);
  for (const key of ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains']) {
    // A condition names members that the level around it declares.
    const child = schema[key];
    if (['not', 'if', 'then', 'else', 'contains'].includes(key) || !isRecord(child)) continue;
    problems.push(...closedProblems(child, `${path}.${key}`));
  }
  for (const key of ['oneOf', 'anyOf', 'prefixItems']) {
    const children = Array.isArray(schema[key]) ? schema[key] : [];
    problems.push(...children.flatMap((child, index) => closedProblems(child, `${path}.${key}[${index}]`)));
  }
  for (const [name, child] of Object.entries(isRecord(schema['properties']) ? schema['properties'] : {})) {
    problems.push(...closedProblems(child, `${path}.${name}`));
  }
  return problems;
}

/** An account that has every value that addresses and paths can take. */
function sampleAccount(connector: Connector): Record<string, string> {
  const names = connector.auth_patterns.flatMap((pattern) =>
    [...staticFieldsOf(pattern), ...(pattern.account_fields ?? [])].map((field) => field.field_name),
  );
  const account = Object.fromEntries(names.map((name) => [name, 'example']));
  const { base_url_input } = connector.api;
  return base_url_input === undefined ? account : { ...account, [base_url_input]: 'https://api.example.com' };
}
