import type { Document, Operation, Request } from 'openapi-backend';
import { OpenAPIRouter } from 'openapi-backend';
import type { ContractRequest } from '../pipeline/request.ts';

interface Template {
  operation: Operation;
  pattern: RegExp;
  names: string[];
}

/**
 * Routes by tables that are computed once. The library's own router would rebuild its list of operations for every
 * request, which would take four fifths of the request's time.
 */
export class CompiledRouter extends OpenAPIRouter {
  readonly #operations: Operation[];
  /** By method in upper case, then by path. */
  readonly #literal = new Map<string, Map<string, Operation>>();
  readonly #templates: Template[] = [];

  constructor(definition: Document) {
    super({ definition, apiRoot: '/', ignoreTrailingSlashes: false });
    this.#operations = super.getOperations();
    for (const operation of this.#operations) {
      if (operation.path.includes('{')) this.#templates.push(compileTemplate(operation));
      else this.#addLiteral(operation);
    }
    // The template with the most literal text is preferred: `{id}:enable` before `{id}`.
    this.#templates.sort((a, b) => literalLength(b.operation) - literalLength(a.operation));
  }

  #addLiteral(operation: Operation): void {
    const method = operation.method.toUpperCase();
    const paths = this.#literal.get(method) ?? new Map<string, Operation>();
    this.#literal.set(method, paths.set(operation.path, operation));
  }

  override getOperations(): Operation[] {
    return this.#operations;
  }

  /** Returns the operation of a request and sets its path parameters; undefined if the contract has none. */
  find(request: ContractRequest): Operation | undefined {
    // HEAD uses the operation of GET (RFC 9110 §9.3.2); the response is written without its body.
    const asked = request.method === 'HEAD' ? 'GET' : request.method;
    const literal = this.#literal.get(asked)?.get(request.path);
    if (literal) return literal;
    const method = asked.toLowerCase();
    const template = this.#templates.find((t) => t.operation.method === method && t.pattern.test(request.path));
    if (template) request.params = readParams(template, request.path);
    return template?.operation;
  }

  override matchOperation(req: Request, strict?: boolean): never {
    const operation = this.find(req as ContractRequest);
    if (operation || !strict) return operation as never;
    throw new Error(this.methodsOf(req.path).length > 0 ? '405-methodNotAllowed' : '404-notFound');
  }

  /** Returns the methods of a path in upper case, for an Allow header. */
  methodsOf(path: string): string[] {
    const methods = this.operationsOf(path).map(({ method }) => method.toUpperCase());
    return methods.includes('GET') ? [...methods, 'HEAD'] : methods;
  }

  operationsOf(path: string): Operation[] {
    return this.#operations.filter((o) =>
      o.path.includes('{') ? compileTemplate(o).pattern.test(path) : o.path === path,
    );
  }

  override parseRequest(req: Request): never {
    return req as never;
  }
}

function literalLength(operation: Operation): number {
  return operation.path.replace(/\{.*?\}/g, '').length;
}

function compileTemplate(operation: Operation): Template {
  const names: string[] = [];
  const source = operation.path.replace(/[.*+?^$()|[\]\\]|\{([^}]+)\}/g, (found, name?: string) => {
    if (name === undefined) return `\\${found}`;
    names.push(name);
    return '([^/:]+)';
  });
  return { operation, pattern: new RegExp(`^${source}$`), names };
}

/** Returns the percent-decoded path parameters. An invalid escape is not changed, and matches no object. */
function readParams(template: Template, path: string): Record<string, string> {
  const match = template.pattern.exec(path) ?? [];
  const params: Record<string, string> = {};
  template.names.forEach((name, index) => {
    const raw = match[index + 1] ?? '';
    try {
      params[name] = decodeURIComponent(raw);
    } catch {
      params[name] = raw;
    }
  });
  return params;
}
