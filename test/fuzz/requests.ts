import type { JsonObject, Operation } from '../../scripts/openapi-document.ts';
import { parametersOf } from '../../scripts/openapi-document.ts';
import { contract } from '../contract/contract.ts';
import type { ContractRequest } from '../support/contract-requests.ts';
import { bodyExamples, mediaTypeOf, requestOf } from '../support/contract-requests.ts';
import type { TestRequest } from '../support/server.ts';
import { HOSTILE_BODIES, HOSTILE_TEXTS } from './hostile.ts';
import { mutate } from './mutate.ts';
import type { Random } from './random.ts';

/** Existing values, by the name of the parameter or field that they are for. */
export type KnownValues = Record<string, string[]>;

/** Creates one request of an operation: valid, slightly wrong, or hostile. */
export function fuzzRequest(operation: Operation, known: KnownValues, random: Random): ContractRequest {
  const bodies = bodyExamples(operation).map((body) => withKnown(body, known, random));
  const body = bodies.length > 0 ? random.pick(bodies) : undefined;
  const made = requestOf(operation, {
    path: pathValues(operation, known, random),
    query: queryValues(operation, known, random),
    ...(body && { body: flatForForm(operation, random.chance(0.6) ? mutate(body, random) : body) }),
  });
  if (random.chance(0.1)) made.request = { ...made.request, ...oddBody(random) };
  if (random.chance(0.1)) made.request.headers = { ...made.request.headers, ...oddHeaders(random) };
  if (random.chance(0.05)) made.request.token = random.pick([null, 'x', 'a.b.c', 'é'.repeat(10).replaceAll('é', 'e')]);
  if (random.chance(0.05)) made.path = oddPath(made.path, random);
  return made;
}

/** Converts nested values of a form to JSON texts, because a form has no nested values. A JSON body is not changed. */
function flatForForm(operation: Operation, body: JsonObject): JsonObject {
  if (mediaTypeOf(operation) === 'application/json') return body;
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
}

function withKnown(body: JsonObject, known: KnownValues, random: Random): JsonObject {
  const entries = Object.entries(body).map(([name, value]) => {
    const values = known[name];
    return [name, values && random.chance(0.7) ? random.pick(values) : value];
  });
  return Object.fromEntries(entries);
}

function pathValues(operation: Operation, known: KnownValues, random: Random): Record<string, string> {
  const names = [...operation.path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] as string);
  return Object.fromEntries(
    names.map((name) => {
      const values = known[name];
      const real = values && random.chance(0.7);
      return [name, (real ? random.pick(values) : random.pick(HOSTILE_TEXTS.filter(isSendable))) || 'x'];
    }),
  );
}

function queryValues(operation: Operation, known: KnownValues, random: Random): Record<string, string> {
  const query: Record<string, string> = {};
  for (const parameter of parametersOf(contract, operation)) {
    const name = String(parameter['name']);
    if (parameter['in'] !== 'query' || random.chance(0.5)) continue;
    const values = known[name];
    if (values && random.chance(0.6)) query[name] = random.pick(values);
    else if (random.chance(0.5)) query[name] = random.pick(HOSTILE_TEXTS);
    else if (parameter['example'] !== undefined) query[name] = String(parameter['example']);
  }
  if (random.chance(0.05)) query[random.pick(HOSTILE_TEXTS)] = 'unknown';
  return query;
}

function oddBody(random: Random): TestRequest {
  const type = random.pick([
    'application/json',
    'application/json; charset=latin1',
    'text/plain',
    'application/x-www-form-urlencoded',
    'x',
  ]);
  const headers: Record<string, string> = { 'content-type': type };
  if (random.chance(0.1)) headers['content-encoding'] = 'gzip';
  return { body: random.pick(HOSTILE_BODIES), headers };
}

function oddHeaders(random: Random): Record<string, string> {
  const name = random.pick([
    'idempotency-key',
    'x-request-id',
    'host',
    'accept',
    'cookie',
    'authorization',
    'x-forwarded-for',
    'expect',
  ]);
  if (name === 'expect') return {};
  const text = random
    .pick(HOSTILE_TEXTS)
    .replace(/[^\x20-\x7e]/g, '')
    .slice(0, 2000)
    .trim();
  return { [name]: text || 'x' };
}

function oddPath(path: string, random: Random): string {
  return random.pick([
    `${path}/`,
    `/${path}`,
    path.replace(':', '%3A'),
    path.toUpperCase(),
    `${path}%`,
    `${path}?%ff=%c0%80`,
    path.replace('/v1', '/v2'),
    `${path}/..`,
  ]);
}

/** Whether a client sends a text unchanged in a path: clients resolve segments of dots, and reject very long ones. */
function isSendable(text: string): boolean {
  return text !== '' && !/^\.+$/.test(text) && text.length < 1000 && text.isWellFormed();
}
