import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Context, Document, Operation, Request, ValidationResult } from 'openapi-backend';
import { OpenAPIBackend } from 'openapi-backend';
import { REQUEST_BODY } from '../../core/budgets.ts';
import type { ContractRequest } from '../pipeline/request.ts';
import type { Contract } from '../validation/served-contract.ts';
import type { Validators } from '../validation/validators.ts';
import type { WarmUpStep } from '../warm-up.ts';
import { CompiledRouter } from './router.ts';

/**
 * Uses openapi-backend for an OpenAPI 3.1 document. It differs from the library in four ways. The document is not
 * validated at run time, because the library only knows OpenAPI 2.0 and 3.0; it was linted when it was generated.
 * Requests are validated by code that was generated with the contract, for JSON Schema 2020-12. Routing and parsing are
 * done once per request instead of three times. Steps that only other documents need are skipped.
 */
export class ContractBackend extends OpenAPIBackend {
  routes!: CompiledRouter;
  readonly #schemes = new Map<Operation, string | null>();
  readonly #validatorsOf: Validators;

  constructor({ routes, validators }: Contract) {
    super({ definition: routes, strict: true, quick: true, validate: false });
    this.#validatorsOf = validators;
  }

  override validateDefinition(): Document {
    return this.document;
  }

  override async init(): Promise<this> {
    await super.init();
    this.routes = new CompiledRouter(this.definition);
    this.router = this.routes as never;
    for (const operation of this.routes.getOperations()) this.#schemes.set(operation, schemeOf(operation));
    return this;
  }

  /**
   * Runs the library's steps in its order, with the registered handlers, security handlers and validators. The
   * library's own implementation takes as much time as all of these together: it supports any combination of security
   * schemes, with several promises for each, while the contract has at most one scheme per operation (`init` checks
   * this).
   */
  override async handleRequest(req: Request, ...args: unknown[]): Promise<unknown> {
    const operation = this.routes.find(req as ContractRequest);
    if (!operation) return super.handleRequest(req, ...args);
    // All members are defined from the beginning, because objects that grow later are slower.
    const members = { api: this, request: req, operation, security: undefined, validation: undefined };
    const context = members as unknown as Context;
    const routed = this.#call('postRoutingHandler', context, args);
    if (routed) await routed;
    const scheme = this.#schemes.get(operation) ?? null;
    context.security = { authorized: false };
    if (scheme !== null) {
      // Not in a separate function, because each `async` function that a request calls costs two promises.
      try {
        const result = await this.securityHandlers[scheme]?.(context, ...args);
        context.security = { [scheme]: result, authorized: result === true };
      } catch (error) {
        context.security = { [scheme]: { error }, authorized: false };
      }
    }
    const secured = this.#call('postSecurityHandler', context, args);
    if (secured) await secured;
    if (scheme !== null && context.security['authorized'] !== true)
      return this.#call('unauthorizedHandler', context, args);
    context.validation = this.#validate(req as ContractRequest, operation);
    if (context.validation.errors) return this.#call('validationFail', context, args);
    return await this.#call(operation.operationId as string, context, args);
  }

  /** Calls a registered function. A missing one is an error; the step is never skipped. */
  #call(name: string, context: Context, args: unknown[]): unknown {
    const handler = this.handlers[name];
    if (!handler) throw new Error(`no handler is registered for ${name}`);
    return handler(context, ...args);
  }

  /**
   * Returns one step for each module of validators that valid requests need. The module `bodies-errors`, which takes 3
   * to 10 ms to load, and 1 MB, is not loaded in advance, because only an invalid body needs it.
   */
  warmUpSteps(): WarmUpStep[] {
    const modules = ['parameters', 'bodies'] as const;
    return modules.map((module) => ({ name: `validators: ${module}`, run: () => this.#validatorsOf(module) }));
  }

  /**
   * Validates the parameters and the body of a request, and reports all errors of the parameters. The check of the body
   * stops at its first error; only a small body is then checked for all errors, because that takes more time.
   */
  #validate(req: ContractRequest, operation: Operation): ValidationResult {
    const subject = { path: req.params, query: req.query, header: req.headers, cookie: {}, requestBody: req.body };
    const id = operation.operationId as string;
    const checkParameters = this.#validatorsOf('parameters')[id];
    if (!checkParameters) throw new Error(`no validators were generated for ${id}`);
    const inParameters = errorsOf(checkParameters, subject);
    let inBody = errorsOf(this.#validatorsOf('bodies')[id], subject);
    if (inBody && req.bodyBytes <= REQUEST_BODY.allErrorsBytes) {
      inBody = errorsOf(this.#validatorsOf('bodies-errors')[id], subject) ?? inBody;
    }
    const errors = inBody && inParameters ? [...inBody, ...inParameters] : (inBody ?? inParameters);
    return { valid: errors === null, errors: errors as never, coerced: req };
  }
}

function errorsOf(validate: ValidateFunction | undefined, subject: unknown): ErrorObject[] | null {
  return validate === undefined || validate(subject) ? null : (validate.errors ?? []);
}

/** @throws Error for combinations of security schemes, which are not supported here */
function schemeOf({ operationId, security = [] }: Operation): string | null {
  const schemes = security.flatMap((requirement) => Object.keys(requirement));
  const [scheme = null] = schemes;
  if (security.length > 1 || schemes.length !== security.length) {
    throw new Error(`operation ${operationId} must need one security scheme or none`);
  }
  return scheme;
}
