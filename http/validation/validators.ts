import { createRequire } from 'node:module';
import type { ValidateFunction } from 'ajv';

/**
 * The modules of validators that `make generate` writes to `generated/validators/`. `bodies` and `responses` stop at
 * the first error; `bodies-errors` and `parameters` find every error.
 */
export type ValidatorModule = 'bodies' | 'bodies-errors' | 'parameters' | 'responses';

/** Returns the validators of a module, by operation, or by schema for responses. */
export type Validators = (module: ValidatorModule) => Readonly<Record<string, ValidateFunction>>;

const require = createRequire(import.meta.url);
const loaded: Partial<Record<ValidatorModule, ReturnType<Validators>>> = {};

/**
 * Loads a module of validators at its first use. Its functions are compiled when they are called, so the server neither
 * compiles schemas at its start nor at the first request of an operation. It is kept here, because `require` takes
 * longer to find a loaded module than most validators run.
 */
export const generatedValidators: Validators = (module) => {
  loaded[module] ??= require(`../../generated/validators/${module}.cjs`) as ReturnType<Validators>;
  return loaded[module];
};
