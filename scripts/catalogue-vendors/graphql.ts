import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createResolver } from '../../core/openapi-conversion/resolve.ts';
import { createSchemaReader } from '../../core/openapi-conversion/schema-view.ts';
import { isRecord } from '../../core/tools/pointer.ts';
import type { ToolDefinition } from '../../core/tools/tool.ts';
import { FOLDER, locationOf, type Source } from './source.ts';
import type { VendorDocument, VendorOperation } from './vendor-document.ts';

type Data = Record<string, unknown>;

/**
 * A node of a parsed document, as the package `graphql` returns it. `make catalogue-vendors` installs that package
 * together with the descriptions.
 */
interface Node {
  kind: string;
  name?: Node;
  alias?: Node;
  value: string;
  loc: { start: number };
  operation?: string;
  type?: Node;
  typeCondition?: Node;
  variable?: Node;
  defaultValue?: Node;
  arguments?: Node[];
  definitions?: Node[];
  selectionSet?: { selections: Node[] };
  variableDefinitions?: Node[];
}

/** A type of a GraphQL schema, as the package `graphql` returns it. */
interface Type {
  name: string;
  ofType?: Type;
  getFields?(): Record<string, { type: Type; defaultValue?: unknown }>;
  getValues?(): { name: string }[];
}

interface Schema {
  getType(name: string): Type | undefined;
  getQueryType(): Type;
  getMutationType(): Type;
  getTypeMap(): Record<string, Type>;
}

interface Graphql {
  buildSchema(text: string, options: object): Schema;
  parse(text: string): Node;
  validate(schema: Schema, document: Node): { message: string }[];
  isInputObjectType(type: Type): boolean;
}

/**
 * Opens a description in GraphQL's schema language. For each tool it creates an operation from the tool's query: the
 * variables that may be sent, and the result.
 */
export async function openGraphql(source: Source, folder = FOLDER): Promise<VendorDocument> {
  const graphql = createRequire(new URL('package.json', folder))('graphql') as Graphql;
  const text = await readFile(locationOf(source, folder), 'utf8');
  const schema = graphql.buildSchema(text, { assumeValidSDL: true });
  const inputs = Object.values(schema.getTypeMap()).filter((type) => graphql.isInputObjectType(type));
  const document = { types: Object.fromEntries(inputs.map((type) => [type.name, inputObject(type)])) };
  const resolve = createResolver(document);
  const known = new Map<string, Judged>();
  const judged = (tool: ToolDefinition): Judged | undefined => {
    const query = queryOf(tool);
    if (query === undefined) return undefined;
    const found = known.get(query) ?? judge(query, schema, graphql);
    known.set(query, found);
    return found;
  };
  return {
    source,
    document,
    operations: [],
    resolve,
    read: createSchemaReader(resolve),
    operationFor: (tool) => judged(tool)?.operation,
    findings: (tool) => judged(tool)?.findings ?? [],
    parts: (tool) => judged(tool)?.parts ?? [],
  };
}

/** Returns the query that a tool sends; undefined for a tool that sends none. */
function queryOf({ request }: ToolDefinition): string | undefined {
  const value = request.body?.value;
  return isRecord(value) && typeof value['query'] === 'string' && /^\s*(query|mutation|\{)/.test(value['query'])
    ? value['query']
    : undefined;
}

interface Judged {
  operation: VendorOperation | undefined;
  findings: string[];
  /**
   * The places of the names of fields and arguments in the query. A changed name there is a mistake that the
   * comparison must notice.
   */
  parts: number[];
}

function judge(query: string, schema: Schema, graphql: Graphql): Judged {
  let parsed: Node;
  try {
    parsed = graphql.parse(query);
  } catch (error) {
    return { operation: undefined, findings: [String(error)], parts: [] };
  }
  const [definition] = parsed.definitions ?? [];
  const root = definition?.operation === 'mutation' ? schema.getMutationType() : schema.getQueryType();
  const first = definition?.selectionSet?.selections[0]?.name?.value ?? '';
  if (definition === undefined || root.getFields?.()[first] === undefined)
    return { operation: undefined, findings: [], parts: [] };
  const variables = (definition.variableDefinitions ?? []).map((variable): [string, Node, boolean] => [
    variable.variable?.name?.value ?? '',
    variable.type as Node,
    variable.type?.kind === 'NonNullType' && variable.defaultValue === undefined,
  ]);
  const properties = Object.fromEntries(variables.map(([name, type]) => [name, fromNode(type, schema)]));
  const required = variables.filter(([, , isRequired]) => isRequired).map(([name]) => name);
  const body = {
    type: 'object',
    required: ['query', ...(required.length > 0 ? ['variables'] : [])],
    properties: { query: { type: 'string' }, variables: { type: 'object', properties, required } },
  };
  const answer = {
    type: 'object',
    properties: { data: selected(definition, root, schema), errors: { type: 'array' } },
  };
  const json = (value: unknown) => ({ content: { 'application/json': { schema: value } } });
  const operation: VendorOperation = {
    method: 'POST',
    path: '/',
    item: {},
    data: { requestBody: json(body), responses: { 200: json(answer) } },
    sourceId: `${definition.operation} ${first}`,
    matcher: /^.*$/,
    names: [],
    fixed: 0,
  };
  const findings = graphql.validate(schema, parsed).map(({ message }) => `query: ${message}`);
  return { operation, findings, parts: namesIn(definition) };
}

/** Returns where the names of fields and arguments begin. */
function namesIn(node: Node): number[] {
  const inside = [...(node.selectionSet?.selections ?? []), ...(node.arguments ?? [])].flatMap(namesIn);
  const isNamed = node.kind === 'Field' || node.kind === 'Argument';
  return isNamed && node.name ? [node.name.loc.start, ...inside] : inside;
}

/** Returns the JSON Schema of what a selection returns. Fields that the type does not have are left out. */
function selected(node: Node, type: Type, schema: Schema): Data {
  const named = unwrapped(type);
  const list = listOf(type);
  if (list) return { type: 'array', items: selected(node, list, schema) };
  if (node.selectionSet === undefined) return scalar(named);
  const properties: Data = {};
  for (const part of node.selectionSet.selections) {
    if (part.kind === 'Field') {
      const name = part.name?.value ?? '';
      const field = named.getFields?.()[name];
      if (name === '__typename') properties[part.alias?.value ?? name] = { type: 'string' };
      else if (field) properties[part.alias?.value ?? name] = selected(part, field.type, schema);
    } else {
      const inner = part.typeCondition ? schema.getType(part.typeCondition.name?.value ?? '') : named;
      if (inner) Object.assign(properties, selected(part, inner, schema)['properties']);
    }
  }
  return { type: 'object', properties };
}

function inputObject(type: Type): Data {
  const fields = Object.entries(type.getFields?.() ?? {});
  const isRequired = ({ type: own, defaultValue }: { type: Type; defaultValue?: unknown }) =>
    String(own).endsWith('!') && defaultValue === undefined;
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, field]) => [name, inputType(field.type)])),
    required: fields.filter(([, field]) => isRequired(field)).map(([name]) => name),
  };
}

function inputType(type: Type): Data {
  const list = listOf(type);
  if (list) return { type: 'array', items: inputType(list) };
  const named = unwrapped(type);
  return named.getFields ? { $ref: `#/types/${named.name}` } : scalar(named);
}

/** Returns the schema of the type of a variable, which is written in the query. */
function fromNode(node: Node, schema: Schema): Data {
  if (node.kind === 'NonNullType') return fromNode(node.type as Node, schema);
  if (node.kind === 'ListType') return { type: 'array', items: fromNode(node.type as Node, schema) };
  const type = schema.getType(node.name?.value ?? '');
  return type === undefined ? {} : inputType(type);
}

function scalar(type: Type): Data {
  const values = type.getValues?.().map(({ name }) => name);
  if (values) return { type: 'string', enum: values };
  const types: Data = {
    ID: ['string', 'integer'],
    String: 'string',
    Int: 'integer',
    Float: 'number',
    Boolean: 'boolean',
  };
  return types[type.name] === undefined ? {} : { type: types[type.name] };
}

/** Returns the type of the items of a list; undefined for another type. */
function listOf(type: Type): Type | undefined {
  const text = String(type);
  if (!/\]!?$/.test(text)) return undefined;
  return text.endsWith('!') ? type.ofType?.ofType : type.ofType;
}

/** Returns the named type inside "non-null". */
function unwrapped(type: Type): Type {
  return String(type).endsWith('!') ? (type.ofType as Type) : type;
}
