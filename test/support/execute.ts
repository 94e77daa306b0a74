import { expect } from 'chai';
import { createAccount } from './accounts.ts';
import type { TestRequest, TestResponse, TestServer } from './server.ts';

/** Runs a tool with an account. */
export function execute(
  server: Pick<TestServer, 'call'>,
  accountId: string,
  toolName: string,
  toolInput: Record<string, unknown> = {},
  { body, ...request }: { body?: Record<string, unknown> } & Omit<TestRequest, 'body'> = {},
): Promise<TestResponse> {
  return server.call('POST', '/api/v1/execute_tool', {
    ...request,
    body: { connected_account_id: accountId, tool_name: toolName, tool_input: toolInput, ...body },
  });
}

/**
 * Returns a function that runs tools of a connector with a new account and returns their data. It fails if a tool
 * fails. The names of the tools that succeeded are added to `ran`.
 */
export async function toolRunner(
  server: Pick<TestServer, 'call'>,
  connector: string,
  connectedAccount: Record<string, unknown>,
  ran = new Set<string>(),
) {
  const { id } = await createAccount(server, { connector, connectedAccount });
  return async (tool: string, input: Record<string, unknown> = {}) => {
    const { status, text, body } = await execute(server, id, `${connector}_${tool}`, input);
    expect(status, `${tool}: ${text}`).to.equal(200);
    ran.add(tool);
    return body.data;
  };
}

/** Expects that a third party refuses a wrong credential: the negative control for tests of a tool. */
export async function expectRefusal(
  server: Pick<TestServer, 'call'>,
  connector: string,
  connectedAccount: Record<string, unknown>,
  tool: string,
  upstream_status = 401,
): Promise<void> {
  const { id } = await createAccount(server, { connector, connectedAccount });
  const { body } = await execute(server, id, `${connector}_${tool}`);
  expect(body.tool_error).to.include({ kind: 'upstream_auth', upstream_status });
}

/** Returns the record of an execution whose response has been received. Throws if the record has no outcome yet. */
// biome-ignore lint/suspicious/noExplicitAny: tests read responses of every format
export async function finishedExecution(server: Pick<TestServer, 'call'>, id: string): Promise<any> {
  const answer = await server.call('GET', `/api/v1/executions/${id}`);
  if (answer.status !== 200) throw new Error(`no execution ${id}: ${answer.text}`);
  if (answer.body.execution.status === 'STARTED') throw new Error(`the execution ${id} has no outcome yet`);
  return answer.body.execution;
}
