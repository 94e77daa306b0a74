import { staticFieldsOf } from '../authorization/fields.ts';
import { moduleOf } from '../authorization/registry.ts';
import { isCallerHeader } from '../connectors/header-names.ts';
import type { ConnectorApi, ProviderDefinition } from '../connectors/provider.ts';
import { ApiError, type FieldError } from '../errors.ts';
import { prepareCall } from './call.ts';
import { FILE_FORMAT, fileInputSchema, isFileSchema } from './file-input.ts';
import { createInputChecker, type InputChecker } from './input.ts';
import { isRecord } from './pointer.ts';
import { type References, referencesOf } from './references.ts';
import { schemaCompiler } from './schema-compiler.ts';
import { createPatternEngine } from './schema-patterns.ts';
import { checkClosed, checkCompiles } from './schema-rules.ts';
import type { JsonSchema, ToolDefinition, ToolStep } from './tool.ts';
import { toolPrefix } from './tool-name.ts';
import { isWithinHost } from './url.ts';

const SAMPLE_BASE = 'https://api.example.com';

export interface ToolRules {
  /**
   * @param tool a tool that matches the schema of tools
   * @param provider the provider whose accounts will run it
   * @returns one entry per invalid field, with paths from the tool's root
   */
  check(tool: ToolDefinition, provider: ProviderDefinition): FieldError[];
}

/** Creates the rules that the schema of a tool cannot express, for the catalogue's check and the API. */
export function createToolRules(): ToolRules {
  const patterns = createPatternEngine();
  const checkers = { compiler: schemaCompiler(patterns), patterns };
  const inputs = createInputChecker(1);
  return {
    check: (tool, provider) => {
      const references = referencesOf(tool);
      const shape = [
        ...checkName(tool, provider),
        ...checkHints(tool),
        ...checkRequest(tool, provider),
        ...checkOrigin(tool, provider),
        ...checkClosed(tool.input_schema, 'input_schema'),
        ...checkReferences(tool, references, provider),
        ...checkFiles(tool, references),
        ...checkScopes(tool, provider),
        ...checkCompiles(checkers, tool.input_schema, 'input_schema'),
        ...checkCompiles(checkers, tool.output_schema, 'output_schema'),
      ];
      return shape.length > 0 ? shape : checkExamples(inputs, tool, provider);
    },
  };
}

function checkName({ name }: ToolDefinition, { identifier }: ProviderDefinition): FieldError[] {
  const prefix = toolPrefix(identifier);
  return name.startsWith(prefix) ? [] : [{ field: 'name', message: `must start with ${prefix}` }];
}

function checkHints({ hints, request: { method } }: ToolDefinition): FieldError[] {
  const problems: string[] = [];
  if (hints.read_only && hints.destructive) problems.push('a read-only tool must not be destructive');
  if (hints.read_only && !hints.idempotent) problems.push('a read-only tool must be idempotent');
  if (!hints.reason) {
    const reads = method === 'GET' || method === 'HEAD';
    if (reads && !hints.read_only) problems.push(`${method} must be read_only unless hints.reason explains why`);
    if (!reads && method !== 'POST' && hints.read_only)
      problems.push(`${method} must not be read_only unless hints.reason explains why`);
    if (method === 'DELETE' && !(hints.destructive && hints.idempotent))
      problems.push('DELETE must be destructive and idempotent unless hints.reason explains why');
    if (method === 'PUT' && !hints.idempotent) problems.push('PUT must be idempotent unless hints.reason explains why');
  }
  return problems.map((message) => ({ field: 'hints', message }));
}

function checkRequest({ request, pagination }: ToolDefinition, { api }: ProviderDefinition): FieldError[] {
  const problems = (request.steps ?? []).flatMap((step, index) => checkStep(step, `request.steps[${index}]`, api));
  if (request.steps && pagination) {
    problems.push({ field: 'pagination', message: 'must be omitted, because the tool has several requests' });
  }
  const hasBody = request.body !== undefined && request.body.format !== 'none';
  if (hasBody && (request.method === 'GET' || request.method === 'HEAD')) {
    problems.push({ field: 'request.body', message: `${request.method} has no body` });
  }
  const headers = [
    ...Object.keys(request.headers ?? {}).map((name) => [`request.headers.${name}`, name]),
    ...(request.parameters ?? []).flatMap((parameter, index) =>
      parameter.in === 'header' ? [[`request.parameters[${index}].name`, parameter.name]] : [],
    ),
  ] as [string, string][];
  for (const [field, name] of headers) {
    if (!isCallerHeader(name)) problems.push({ field, message: `${name} must not be set by a tool` });
  }
  if (pagination?.request?.in === 'body' && (!hasBody || !pagination.request.name.startsWith('/'))) {
    const message = 'with "in: body" the name must be a JSON pointer such as /page, and the tool must have a body';
    problems.push({ field: 'pagination.request', message });
  }
  return problems;
}

/**
 * Checks a step. Its hosts must be among the provider's `transfer_hosts` or be subdomains of them. Without this rule, a
 * tool that an API client stores could send data of accounts to any host.
 */
function checkStep(
  { method, body, headers = {}, hosts = [] }: ToolStep,
  field: string,
  api: ConnectorApi,
): FieldError[] {
  const names = Object.keys(headers).filter((name) => !isCallerHeader(name));
  const hasBody = body !== undefined && body.format !== 'none' && (method === 'GET' || method === 'HEAD');
  const { transfer_hosts: allowed = [] } = api;
  const foreign = hosts.filter((host) => !allowed.some((known) => isWithinHost(host, known)));
  return [
    ...(hasBody ? [{ field: `${field}.body`, message: `${method} has no body` }] : []),
    ...names.map((name) => ({ field: `${field}.headers.${name}`, message: `${name} must not be set by a tool` })),
    ...foreign.map((host) => ({
      field: `${field}.hosts`,
      message: `${host} is not in the provider's transfer_hosts (${allowed.join(', ') || 'it has none'})`,
    })),
  ];
}

/** Checks that the `origin` of a tool, which replaces the base URL, is one of the provider's `extra_origins`. */
function checkOrigin({ request: { origin } }: ToolDefinition, { api }: ProviderDefinition): FieldError[] {
  if (origin === undefined || api.extra_origins?.includes(origin)) return [];
  const message = `must be one of the provider's extra_origins (${api.extra_origins?.join(', ') || 'it has none'})`;
  return [{ field: 'request.origin', message }];
}

function checkReferences(tool: ToolDefinition, references: References, provider: ProviderDefinition): FieldError[] {
  const properties = propertiesOf(tool);
  const { required } = tool.input_schema;
  const problems = [...references.problems];
  for (const name of references.inputs) {
    if (Object.hasOwn(properties, name)) continue;
    problems.push({ field: 'request', message: `the templates use ${name}, which input_schema does not have` });
  }
  for (const name of Object.keys(properties)) {
    if (references.inputs.has(name)) continue;
    const field = `input_schema.properties.${name}`;
    problems.push({ field, message: `input_schema has ${name}, which no template uses` });
  }
  for (const name of references.pathInputs) {
    // `required` may have any type here: `checkCompiles` reports an invalid schema.
    const present = (Array.isArray(required) && required.includes(name)) || properties[name]?.['default'] !== undefined;
    if (present || name.startsWith('account.')) continue;
    problems.push({ field: 'request.path', message: `${name} is part of the path, so it must be required` });
  }
  for (const name of references.account) {
    for (const pattern of provider.authPatterns) {
      const fields = [
        ...staticFieldsOf(pattern).filter((field) => field.is_path_param),
        ...(pattern.account_fields ?? []),
      ];
      const isHeld = moduleOf(pattern.type).callInputs?.names.includes(name);
      const isBrought = pattern.oauth_config?.account_values?.some((value) => value.name === name);
      if (isHeld || isBrought || fields.some((field) => field.field_name === name)) continue;
      const message = `the templates use account.${name}, which accounts of type ${pattern.type} do not have`;
      problems.push({ field: 'request', message });
    }
  }
  return problems;
}

function propertiesOf(tool: ToolDefinition): Record<string, JsonSchema> {
  return (tool.input_schema['properties'] as Record<string, JsonSchema> | undefined) ?? {};
}

/**
 * Checks that the file inputs are exactly the inputs that the templates use as files, for example with `$file`, and
 * that they have the usual members, so that clients handle all files in the same way.
 */
function checkFiles(tool: ToolDefinition, references: References): FieldError[] {
  return Object.entries(propertiesOf(tool)).flatMap(([name, schema]) => {
    const field = `input_schema.properties.${name}`;
    const taken = references.files.has(name);
    if (!isFileSchema(schema))
      return taken ? [{ field, message: 'is used by $file but is not a file input (format file)' }] : [];
    const file = schema['format'] === FILE_FORMAT ? schema : (schema['items'] as JsonSchema);
    const members = Object.keys(isRecord(file['properties']) ? file['properties'] : {});
    const usual = Object.keys(fileInputSchema('')['properties'] as object);
    return [
      ...(taken ? [] : [{ field, message: 'is a file input, so the request must use it with $file' }]),
      ...(usual.join() === members.join()
        ? []
        : [{ field, message: `is a file input, so its members must be ${usual.join(', ')}` }]),
    ];
  });
}

function checkScopes({ scopes }: ToolDefinition, { authPatterns }: ProviderDefinition): FieldError[] {
  const known = new Set(
    authPatterns.flatMap((pattern) => (pattern.oauth_config?.available_scopes ?? []).map(({ scope }) => scope)),
  );
  return scopes.flatMap((set, index) =>
    set
      .filter((scope) => !known.has(scope))
      .map((scope) => ({
        field: `scopes[${index}]`,
        message: `${scope} is not in available_scopes of the connector`,
      })),
  );
}

/** Checks that every example matches the schema and produces a request, for each authorization type of the provider. */
function checkExamples(inputs: InputChecker, definition: ToolDefinition, given: ProviderDefinition): FieldError[] {
  const tool = { ...definition, connector: given.identifier };
  const provider = addressed(given);
  return definition.examples.flatMap(({ input }, index): FieldError[] => {
    try {
      for (const pattern of provider.authPatterns) {
        const account = sampleAccount(provider);
        prepareCall({ tool, provider, pattern, account, toolInput: input, executionId: 'exec_example' }, inputs);
      }
      return [];
    } catch (error) {
      const field = `examples[${index}].input`;
      const details = error instanceof ApiError ? (error.errors ?? []) : [];
      if (details.length === 0) return [{ field, message: error instanceof Error ? error.message : String(error) }];
      return details.map((detail) => ({ field, message: `${detail.field} ${detail.message}` }));
    }
  });
}

/**
 * Returns a provider with a placeholder address if it has none, because a custom provider may get its address after its
 * tools.
 */
function addressed(provider: ProviderDefinition): ProviderDefinition {
  if (!provider.isCustom || (provider.proxyEnabled && provider.proxyUrl)) return provider;
  return { ...provider, proxyEnabled: true, proxyUrl: provider.proxyUrl ?? SAMPLE_BASE };
}

/** Returns a sample value for every account value that addresses and paths can contain. */
export function sampleAccount({ authPatterns, api }: ProviderDefinition): Record<string, string> {
  const names = authPatterns.flatMap((pattern) => [
    ...[...staticFieldsOf(pattern), ...(pattern.account_fields ?? [])].map((field) => field.field_name),
    ...(pattern.oauth_config?.account_values ?? []).map((value) => value.name),
  ]);
  const account = Object.fromEntries(names.map((name) => [name, 'example']));
  return api.base_url_input === undefined ? account : { ...account, [api.base_url_input]: SAMPLE_BASE };
}
