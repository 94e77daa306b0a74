import { readFileSync } from 'node:fs';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formatsPlugin from 'ajv-formats';
import { SCHEMA_EXTENSIONS } from '../../scripts/contract-rules.ts';
import type { Body, Json, JsonObject, Operation } from '../../scripts/openapi-document.ts';
import { bodiesOf, operationsOf, parametersOf, resolve } from '../../scripts/openapi-document.ts';

/** The contract as it is committed and served. */
export const contract = JSON.parse(
  readFileSync(new URL('../../generated/openapi.json', import.meta.url), 'utf8'),
) as JsonObject;

export type Direction = 'request' | 'response';

/**
 * Creates a validator that is independent of the server's code: JSON Schema 2020-12 with every check of Ajv's strict
 * mode, with formats, and with `readOnly` rejected in requests and `writeOnly` in responses.
 */
function createValidator(direction: Direction): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, allErrors: true, discriminator: true });
  formatsPlugin.default(ajv);
  ajv.addFormat('int32', { type: 'number', validate: (value: number) => value === (value | 0) });
  ajv.addFormat('int64', { type: 'number', validate: Number.isInteger });
  const refused = direction === 'request' ? 'readOnly' : 'writeOnly';
  for (const keyword of ['readOnly', 'writeOnly']) {
    ajv.removeKeyword(keyword);
    ajv.addKeyword({ keyword, schemaType: 'boolean', validate: (flag: boolean) => !(flag && keyword === refused) });
  }
  ajv.addVocabulary([...SCHEMA_EXTENSIONS, 'components']);
  ajv.addSchema({ $id: 'contract', components: forAjv(JSON.stringify(contract['components'])) });
  return ajv;
}

const VALIDATORS = { request: createValidator('request'), response: createValidator('response') };

/** Compiles a schema of the contract; its references refer to the contract's components. */
export function compile(schema: Json | undefined, direction: Direction): ValidateFunction {
  const absolute = JSON.stringify(schema ?? {}).replaceAll('"#/components/', '"contract#/components/');
  return VALIDATORS[direction].compile(forAjv(absolute));
}

/** ajv reads the values of a discriminator from its branches and rejects a mapping. */
function forAjv(text: string): JsonObject {
  return JSON.parse(text, (key, value) => {
    if (key === 'discriminator') delete value.mapping;
    return value;
  });
}

export function directionOf({ side }: Body): Direction {
  return side === 'request' ? 'request' : 'response';
}

export function operation(id: string): Operation {
  const found = operationsOf(contract).find((candidate) => candidate.id === id);
  if (!found) throw new Error(`the contract has no operation ${id}`);
  return found;
}

function body(id: string, side: string): Body {
  const found = bodiesOf(contract, operation(id)).find((candidate) => candidate.side === side);
  if (!found) throw new Error(`${id} has no body ${side}`);
  return found;
}

/** Returns the errors of a body; an empty list if it is valid. */
export function errorsOf(id: string, side: string, value: unknown): ErrorObject[] {
  const found = body(id, side);
  const validate = compile(found.media['schema'], directionOf(found));
  validate(value);
  return validate.errors ?? [];
}

/** Whether a value is valid for a parameter. The value is already converted from text. */
export function takesParameter(id: string, name: string, value: unknown): boolean {
  const parameter = parametersOf(contract, operation(id)).find((candidate) => candidate['name'] === name);
  if (!parameter) throw new Error(`${id} has no parameter ${name}`);
  return compile(parameter['schema'], 'request')(value);
}

/** Returns a copy of the value of an example in the contract. */
export function example(name: string): JsonObject {
  const { value } = resolve(contract, { $ref: `#/components/examples/${name}` });
  return structuredClone(value) as JsonObject;
}
