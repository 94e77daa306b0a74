import type { Tokens } from '../../core/capabilities/tokens.ts';
import type { components, operations, Writable } from '../../generated/api.d.ts';
import type { createHandlers } from '../../handlers/index.ts';
import type {
  BodyOf,
  Call,
  Handler,
  Handlers,
  OperationId,
  Reply,
  RequestBody,
  Responder,
  ResponseValue,
  StatusOf,
} from '../../http/contract.ts';

/**
 * The guarantees that the types of the contract give to authors of handlers. The compiler is the test: it reports a
 * broken guarantee, and also a line that compiles although it must not (TS2578). Most proofs also have a line that must
 * compile.
 */

type Connection = BodyOf<'getConnection', 200>;
type Details = components['schemas']['TrustedIdpDetails']['trusted_idp'];

declare const handlers: ReturnType<typeof createHandlers>;
declare const connection: Connection['connection'];
declare const account: BodyOf<'createConnectedAccount', 201>['connected_account'];
declare const problem: BodyOf<'getConnection', 404>;
declare const getConnection: Responder<'getConnection'>;
declare const createAccount: Responder<'createConnectedAccount'>;
declare const deleteAccount: Responder<'deleteConnectedAccount'>;
declare const listConnections: Call<'listConnections'>;
declare const createConnection: Call<'createConnection'>;

/** Accepted only if both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function holds<T extends true>(): T | undefined {
  return undefined;
}

export function aStatusThatIsNotDeclared(): unknown[] {
  return [
    getConnection(200, { connection }),
    getConnection(404, problem),
    // @ts-expect-error the operation declares no 201
    getConnection(201, { connection }),
    // @ts-expect-error no operation declares 418
    getConnection(418, problem),
  ];
}

export function aBodyOfAnotherShape(): unknown[] {
  return [
    // @ts-expect-error the body is missing
    getConnection(200),
    // @ts-expect-error a member is missing
    getConnection(200, {}),
    // @ts-expect-error the body of another status
    getConnection(200, problem),
    // @ts-expect-error a value that the enumeration does not have
    getConnection(200, { connection: { ...connection, status: 'BROKEN' } }),
    // @ts-expect-error the member cannot be null
    getConnection(200, { connection: { ...connection, client_id: null } }),
    getConnection(200, { connection: { ...connection, allowed_tools: null } }),
  ];
}

export function aPropertyTooMany(): unknown[] {
  return [
    // @ts-expect-error at the top
    getConnection(200, { connection, extra: 1 }),
    getConnection(200, {
      connection: {
        ...connection,
        // @ts-expect-error one level down
        extra: 1,
      },
    }),
    createAccount(201, {
      connected_account: {
        ...account,
        authorization_details: {
          oauth_token: {
            access_token: 'token',
            // @ts-expect-error two levels down
            extra: 1,
          },
        },
      },
    }),
  ];
}

export function aWriteOnlyPropertyInAResponse(): unknown[] {
  return [
    createAccount(201, {
      connected_account: { ...account, authorization_details: { trusted_idp: { db_user: 'reader' } } },
    }),
    createAccount(201, {
      connected_account: {
        ...account,
        authorization_details: {
          trusted_idp: {
            db_user: 'reader',
            // @ts-expect-error it is never returned
            secret_access_key: 'secret',
          },
        },
      },
    }),
    getConnection(200, {
      connection: {
        ...connection,
        // @ts-expect-error this is never returned either
        client_secret: 'secret',
      },
    }),
    holds<Same<keyof ResponseValue<Details>, 'db_user' | 'access_key_id' | 'expiry'>>(),
  ];
}

export function aReadOnlyPropertyInARequest(): unknown[] {
  type Written = Writable<Details>;
  const written: Written = { db_user: 'reader', secret_access_key: 'secret' };
  // @ts-expect-error only Valetkey sets it
  const set: Written = { access_key_id: 'id' };
  return [written, set, holds<Same<Written['access_key_id'], undefined>>()];
}

export function aBodyWhereThereIsNone(): unknown[] {
  return [
    deleteAccount(200),
    deleteAccount(200, undefined, { 'x-header': 'value' }),
    // @ts-expect-error the response has no content
    deleteAccount(200, {}),
    holds<Same<RequestBody<'getConnection'>, undefined>>(),
  ];
}

export function aReplyThatNoResponderHasMade(): unknown[] {
  const made: Reply<'getConnection'> = getConnection(200, { connection });
  // @ts-expect-error the brand cannot be written by hand
  const byHand: Reply<'getConnection'> = { status: 200, body: { connection }, headers: {} };
  // @ts-expect-error it belongs to another operation
  const foreign: Reply<'getConnection'> = deleteAccount(200);
  return [made, byHand, foreign];
}

export function aHandlerOfAnotherOperation(): unknown[] {
  const right: Handler<'getConnection'> = (_call, reply) => reply(200, { connection });
  const late: Handler<'getConnection'> = async (_call, reply) => reply(200, { connection });
  // @ts-expect-error it returns a status that the operation does not declare
  const wrong: Handler<'getConnection'> = (_call, reply) => reply(201, { connection });
  // @ts-expect-error it returns nothing
  const silent: Handler<'getConnection'> = () => undefined;
  // @ts-expect-error its path has another parameter
  const elsewhere: Handler<'getConnection'> = (call, reply) => reply(200, { connection, id: call.path.client_id });
  return [right, late, wrong, silent, elsewhere];
}

export function aHandlerAndItsCapability(): unknown[] {
  const right: Handler<'getJwks', Tokens> = (_call, reply, tokens) => {
    tokens.now();
    return reply(200, { keys: [] });
  };
  // @ts-expect-error the capability has no such member
  const other: Handler<'getJwks', Tokens> = (_call, reply, tokens) => reply(200, { keys: tokens.vault });
  // @ts-expect-error it needs a capability that it is not given
  const given: Handlers['getJwks'] = right;
  return [right, other, given];
}

export function aMapThatIsNotComplete(): unknown[] {
  const complete: Handlers = handlers;
  const { getHealth: _getHealth, ...rest } = handlers;
  // @ts-expect-error a handler is missing
  const missing: Handlers = rest;
  // @ts-expect-error there is no such operation
  const invented: Handlers = { ...handlers, fly: handlers.getHealth };
  // @ts-expect-error the handler belongs to another operation
  const swapped: Handlers = { ...handlers, getHealth: handlers.getReadiness };
  return [complete, missing, invented, swapped];
}

export function whatAHandlerIsGiven(): unknown[] {
  return [
    listConnections.query.page_size?.toFixed(),
    // @ts-expect-error there is no such parameter
    listConnections.query.offset,
    // @ts-expect-error a whole number is not a text
    listConnections.query.page_size?.trim(),
    // @ts-expect-error the path has no parameter
    listConnections.path.connection_id.trim(),
    createConnection.body.connector.trim(),
    // @ts-expect-error an optional member may be missing
    createConnection.body.key_id.trim(),
    // @ts-expect-error the body has no such member
    createConnection.body.colour,
  ];
}

export function aFormAndItsErrors(issueToken: Responder<'issueToken'>, call: Call<'issueToken'>): unknown[] {
  return [
    call.body.grant_type?.trim(),
    issueToken(401, { error: 'invalid_client' }),
    // @ts-expect-error the token endpoint has separate errors
    issueToken(401, problem),
    // @ts-expect-error the errors of the token endpoint are a closed list
    issueToken(401, { error: 'no_idea' }),
  ];
}

/** No operation may declare ranges such as 4XX or `default`, because they would allow any status. */
export function everyStatusIsANumber(): unknown[] {
  type Ranges = { [O in OperationId]: Exclude<keyof operations[O]['responses'], number> }[OperationId];
  return [
    holds<Same<Ranges, never>>(),
    holds<Same<StatusOf<'getHealth'>, keyof operations['getHealth']['responses']>>(),
  ];
}
