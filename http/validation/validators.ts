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
 * Loads a module of validators at its first use. Its functions were generated from the schemas, so the server compiles
 * no schema, neither at its start nor at the first request of an operation. A loaded module is kept in `loaded`,
 * because `require` takes longer to find it again than most validators run.
 */
export const generatedValidators: Validators = (module) => {
  loaded[module] ??= require(`../../generated/validators/${module}.cjs`) as ReturnType<Validators>;
  return loaded[module];
};
