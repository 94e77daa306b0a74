import oasToHar from '@readme/oas-to-har';
import Oas from 'oas';
import { customProvider } from '../../core/connectors/provider.ts';
import { ApiError } from '../../core/errors.ts';
import type { ImportResult } from '../../core/openapi-conversion/import-document.ts';
import { createResolver } from '../../core/openapi-conversion/resolve.ts';
import { prepareCall } from '../../core/tools/call.ts';
import { createInputChecker } from '../../core/tools/input.ts';
import { isRecord } from '../../core/tools/pointer.ts';
import { type RenderedRequest, renderRequest } from '../../core/tools/request.ts';
import type { Tool } from '../../core/tools/tool.ts';
import { type Difference, differenceOf } from './difference.ts';
import { sampled } from './documents.ts';
import { oracleValues } from './oracle-values.ts';
import { sampleObject } from './sample-input.ts';

type Data = Record<string, unknown>;

export interface CallVerdicts {
  compared: number;
  equal: number;
  /** How many calls differ only because the other renderer is known to be wrong, by the kind of its error. */
  known: Record<string, number>;
  different: string[];
}

const ORACLE_SERVER = 'https://oracle.example/base';
const BEARER = { type: 'NO_AUTH' } as const;
/**
 * The maximum size of a document; larger ones are not compared, because the other renderer (the package
 * `@readme/oas-to-har`) copies the whole document for each call.
 */
const MAX_BYTES = 4_000_000;

const inputs = createInputChecker(50);

/** Renders generated calls of some tools with Valetkey and with an independent renderer, and compares the results. */
export async function compareCalls(
  document: Data,
  result: ImportResult,
  count: number,
  random: () => number,
): Promise<CallVerdicts> {
  const verdicts: CallVerdicts = { compared: 0, equal: 0, known: {}, different: [] };
  if (JSON.stringify(document).length > MAX_BYTES) return verdicts;
  for (const { sourceId, tool } of sampled(result.tools, count, random)) {
    const verdict = await compareOne(document, result, sourceId, tool, random);
    verdicts.compared++;
    if (verdict === undefined) verdicts.equal++;
    else if (verdict.known) verdicts.known[verdict.what] = (verdicts.known[verdict.what] ?? 0) + 1;
    else verdicts.different.push(`${sourceId}: ${verdict.what}`);
  }
  return verdicts;
}

async function compareOne(
  document: Data,
  result: ImportResult,
  sourceId: string,
  tool: Tool,
  random: () => number,
): Promise<Difference | undefined> {
  const [method = '', path = ''] = splitOnce(sourceId);
  const input = withPlainHeaders(tool, sampleObject(tool.input_schema, random));
  const base = result.baseUrl ?? ORACLE_SERVER;
  let ours: RenderedRequest;
  try {
    ours = render(tool, input, base);
  } catch (error) {
    const details = error instanceof ApiError ? JSON.stringify(error.errors) : String(error);
    return { known: false, what: `our engine refuses ${JSON.stringify(input)}: ${details}` };
  }
  const oas = Oas.init(
    structuredClone(
      excerpt(document, { method, path, servers: serversOf(result, tool, path), type: mediaTypeOf(ours) }),
    ),
  );
  const operation = oas.operation(path, method.toLowerCase() as 'get');
  const values = oracleValues(tool, path, input);
  const har = oasToHar(oas, operation, values as never).log.entries[0]?.request;
  if (!har) return { known: false, what: 'the other renderer gives nothing' };
  return differenceOf({ tool, ours, theirs: har as never, input, values });
}

/** Limits header values to visible ASCII; other tests check that other characters are rejected. */
function withPlainHeaders({ request }: Tool, input: Data): Data {
  const keys = new Set(
    (request.parameters ?? []).filter((parameter) => parameter.in === 'header').map((parameter) => parameter.input),
  );
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => [
      key,
      keys.has(key) && typeof value === 'string' ? value.replace(/[^\x21-\x7e]/g, '-') : value,
    ]),
  );
}

function render(tool: Tool, input: Data, base: string): RenderedRequest {
  const provider = customProvider({
    identifier: 'corpus',
    displayName: 'Corpus',
    authPatterns: [BEARER],
    proxyEnabled: true,
    proxyUrl: base,
  });
  const call = prepareCall(
    { tool, provider, pattern: BEARER, account: {}, toolInput: input, executionId: 'exec_1' },
    inputs,
  );
  return renderRequest(call, { parts: [], secrets: [] });
}

/**
 * Returns a document with only one operation, whose body has the media type that the tool sends, and with a server if
 * it has none.
 */
function excerpt(
  document: Data,
  { method, path, servers: ours, type }: { method: string; path: string; servers?: Data[]; type: string },
): Data {
  const resolve = createResolver(document);
  const item = resolve(isRecord(document['paths']) ? document['paths'][path] : undefined) ?? {};
  const operation = item[method.toLowerCase()] as Data;
  const body = resolve(operation['requestBody']);
  const content = Object.entries(isRecord(body?.['content']) ? body['content'] : {}).filter(
    ([key]) => key.split(';', 1)[0]?.trim().toLowerCase() === type,
  );
  const sent = content.length > 0 ? { requestBody: { ...body, content: Object.fromEntries(content) } } : {};
  const { parameters, servers: own = ours } = item;
  const alone = {
    ...(parameters !== undefined && { parameters }),
    ...(own !== undefined && { servers: ours ?? own }),
    [method.toLowerCase()]: { ...operation, ...sent, ...(ours && { servers: ours }) },
  };
  return { ...document, ...(ours && { servers: ours }), paths: { ...(document['paths'] as Data), [path]: alone } };
}

/**
 * Returns a server with a placeholder host for documents without a host. If the server address of the document is
 * relative, the importer puts it into the path of each tool. The placeholder then has the same path, so that both
 * renderers produce the same address.
 */
function serversOf({ baseUrl }: ImportResult, { request }: Tool, path: string): Data[] | undefined {
  if (baseUrl !== undefined) return undefined;
  const own = (path.split('#', 1)[0] ?? '').split('/').length - 1;
  const prefix = (request.path.split('{?', 1)[0] ?? '').split('/').slice(0, -own).join('/');
  return [{ url: ORACLE_SERVER + prefix }];
}

function mediaTypeOf({ headers }: RenderedRequest): string {
  return String(headers['content-type'] ?? '').split(';', 1)[0] as string;
}

function splitOnce(sourceId: string): [string, string] {
  const blank = sourceId.indexOf(' ');
  return [sourceId.slice(0, blank), sourceId.slice(blank + 1)];
}
