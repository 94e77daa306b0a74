import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { ValidateFunction } from 'ajv';
import type { Document } from 'openapi-backend';
import type { Contract } from '../../http/validation/served-contract.ts';
import { serveContract } from '../../scripts/contract-validators.ts';
import type { JsonObject } from '../../scripts/openapi-document.ts';

const FOLDER = new URL('../../generated/', import.meta.url);

/** Returns the contract as a document, which tests may change. */
export function readBundle(): JsonObject {
  return JSON.parse(readFileSync(new URL('openapi.json', FOLDER), 'utf8'));
}

/** Converts a contract document of a test into the form that the server loads. */
export function servedContract(document: JsonObject): Contract {
  const { routes, modules } = serveContract(document);
  const loaded = new Map<string, Record<string, ValidateFunction>>();
  return {
    routes: routes as unknown as Document,
    validators: (name) => {
      const exported = loaded.get(name) ?? evaluate(modules[name]);
      loaded.set(name, exported);
      return exported;
    },
  };
}

/** Runs the code of a generated module, whose references start in the folder of the committed ones. */
function evaluate(code: string): Record<string, ValidateFunction> {
  const exported = {};
  new Function('require', 'exports', code)(createRequire(new URL('validators/module.cjs', FOLDER)), exported);
  return exported;
}
