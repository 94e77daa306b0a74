import type { ErrorObject, ValidateFunction } from 'ajv';
import type { AjvCustomizer, Context, Document, Operation, Request, ValidationResult } from 'openapi-backend';
import { OpenAPIBackend, OpenAPIValidator } from 'openapi-backend';
import { REQUEST_BODY } from '../../core/budgets.ts';
import type { ContractRequest } from '../pipeline/request.ts';
import type { Direction } from '../validation/ajv.ts';
import { createAjv } from '../validation/ajv.ts';
import type { WarmUpStep } from '../warm-up.ts';
import { CompiledRouter } from './router.ts';

/**
 * Uses openapi-backend for an OpenAPI 3.1 document. It differs from the library in four ways. The document is not
 * validated at run time, because the library only knows OpenAPI 2.0 and 3.0; it was linted when it was generated.
 * Validation uses JSON Schema 2020-12. Routing and parsing are done once per request instead of three times. Steps that
 * only other documents need are skipped.
 */
export class ContractBackend extends OpenAPIBackend {
  routes!: CompiledRouter;
  readonly #schemes = new Map<Operation, string | null>();
  readonly #validators = new Map<Operation, ValidateFunction[]>();
  /** Finds all errors of a request that the usual validators rejected. */
  #thorough!: OpenAPIValidator;

  constructor(definition: Document) {
    super({ definition, strict: true, quick: true, coerceTypes: true, customizeAjv: sharedAjv('first') });
  }

  override validateDefinition(): Document {
    return this.document;
  }

  override async init(): Promise<this> {
    await super.init();
    this.routes = new CompiledRouter(this.definition);
    this.router = this.routes as never;
    this.validator.router = this.routes as never;
    this.#thorough = new OpenAPIValidator({
      definition: this.definition,
      lazyCompileValidators: true,
      coerceTypes: true,
      customizeAjv: sharedAjv('all'),
      router: this.routes as never,
    });
    this.validator.validateRequest = (req, operation) => this.#validate(req as ContractRequest, operation as Operation);
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
    context.security = scheme === null ? { authorized: false } : await this.#secure(scheme, context, args);
    const secured = this.#call('postSecurityHandler', context, args);
    if (secured) await secured;
    if (scheme !== null && context.security['authorized'] !== true)
      return this.#call('unauthorizedHandler', context, args);
    context.validation = this.#validate(req as ContractRequest, operation);
    if (context.validation.errors) return this.#call('validationFail', context, args);
    return this.#call(operation.operationId as string, context, args);
  }

  /** Calls a registered function. A missing one is an error; the step is never skipped. */
  #call(name: string, context: Context, args: unknown[]): unknown {
    const handler = this.handlers[name];
    if (!handler) throw new Error(`no handler is registered for ${name}`);
    return handler(context, ...args);
  }

  async #secure(scheme: string, context: Context, args: unknown[]): Promise<NonNullable<Context['security']>> {
    try {
      const result = await this.securityHandlers[scheme]?.(context, ...args);
      return { [scheme]: result, authorized: result === true };
    } catch (error) {
      return { [scheme]: { error }, authorized: false };
    }
  }

  /** Returns the compiled validators of an operation: body first, then parameters. */
  validatorsOf(operationId: string): ValidateFunction[] {
    return (this.validator.getRequestValidatorsForOperation(operationId) ?? []) as unknown as ValidateFunction[];
  }

  /**
   * Returns the validators that report every error. They are used only for requests that the fast validators rejected.
   */
  #thoroughValidatorsOf(operationId: string): ValidateFunction[] {
    return (this.#thorough.getRequestValidatorsForOperation(operationId) ?? []) as unknown as ValidateFunction[];
  }

  /**
   * Compiles the validators of all operations, one operation per step: first those that every request needs, then those
   * that report every error, which are rarely needed soon. Only operations with a body take long to compile.
   */
  warmUpSteps(): WarmUpStep[] {
    const operations = this.routes.getOperations();
    const withBody = operations.filter(({ requestBody }) => requestBody !== undefined);
    return [
      ...operations.map(({ operationId: id }) => ({
        name: `validators of ${id}`,
        run: () => this.validatorsOf(id as string),
      })),
      ...withBody.map(({ operationId: id }) => ({
        name: `validators of every error of ${id}`,
        run: () => this.#thoroughValidatorsOf(id as string),
      })),
    ];
  }

  /**
   * Stops at the first error. Only a request with a small body is then checked for all errors, because that takes more
   * time.
   */
  #validate(req: ContractRequest, operation: Operation): ValidationResult {
    const subject = { path: req.params, query: req.query, header: req.headers, cookie: {}, requestBody: req.body };
    let validators = this.#validators.get(operation);
    if (!validators) {
      validators = this.validatorsOf(operation.operationId as string);
      this.#validators.set(operation, validators);
    }
    let errors = errorsOf(validators, subject);
    if (errors && req.bodyBytes <= REQUEST_BODY.allErrorsBytes) {
      errors = errorsOf(this.#thoroughValidatorsOf(operation.operationId as string), subject) ?? errors;
    }
    return { valid: errors === null, errors: errors as never, coerced: req };
  }
}

function errorsOf(validators: readonly ValidateFunction[], subject: unknown): ErrorObject[] | null {
  let errors: ErrorObject[] | null = null;
  for (const validate of validators) {
    if (!validate(subject)) errors = errors ? errors.concat(validate.errors ?? []) : (validate.errors ?? []);
  }
  return errors;
}

/** Returns one Ajv instance for each direction, so that shared subschemas are compiled once. */
function sharedAjv(errors: 'first' | 'all'): AjvCustomizer {
  const shared = new Map<Direction, ReturnType<typeof createAjv>>();
  return (_original, _options, context) => {
    const direction = DIRECTIONS[String(context)] ?? 'response';
    const known = shared.get(direction) ?? createAjv(direction, errors);
    shared.set(direction, known);
    return known as never;
  };
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

const DIRECTIONS: Record<string, Direction> = { requestBodyValidator: 'request', paramsValidator: 'parameters' };
