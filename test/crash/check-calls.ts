import { expect } from 'chai';
import type { ServerClient } from '../support/child-server.ts';
import type { Counterpart } from './counterpart.ts';
import type { Ledger, LedgerCall, LedgerGrant } from './ledger.ts';
import { runCall, useGrant } from './load.ts';

const EXECUTIONS = '/api/v1/executions';

/** Compares the records of calls with the ledger and with what happened at the provider. */
export async function checkCalls(server: ServerClient, counterpart: Counterpart, ledger: Ledger): Promise<void> {
  // No call is running, because the process that made them was killed.
  expect(await countExecutions(server, 'status=STARTED')).to.equal(0);
  // The record of a call is written before the call is sent.
  expect(await countExecutions(server)).to.be.at.least(counterpart.effects.size);
  for (const id of ledger.readExecutions.splice(0)) await checkOutcome(server, id);
  for (const call of ledger.calls.splice(0)) await checkCall(server, counterpart, call);
}

async function countExecutions(server: ServerClient, filter = ''): Promise<number> {
  const { body } = await server.call('GET', `${EXECUTIONS}?page_size=1&${filter}`);
  return body.total_size;
}

/** A call whose response was received must have its outcome, regardless of its effect. */
async function checkOutcome(server: ServerClient, executionId: string): Promise<void> {
  const { body } = await server.call('GET', `${EXECUTIONS}/${executionId}`);
  expect(body.execution?.status, `${executionId} was acknowledged`).to.equal('SUCCEEDED');
}

async function checkCall(server: ServerClient, { effects }: Counterpart, call: LedgerCall): Promise<void> {
  const { nonce, key, executionId } = call;
  if (executionId !== undefined) {
    await checkOutcome(server, executionId);
    expect(effects.get(nonce)).to.equal(1);
  }
  if (key !== undefined) {
    const answer = await runCall(server, call);
    if (answer.status === 200) expect(effects.get(nonce), nonce).to.equal(1);
    else expect(answer.body).to.include({ status: 409, code: 'EXECUTION_OUTCOME_UNKNOWN' });
    if (executionId !== undefined) expect([answer.status, answer.body.execution_id]).to.deep.equal([200, executionId]);
  }
  expect(effects.get(nonce) ?? 0, nonce).to.be.at.most(1);
}

/**
 * Tokens are lost in one case only: the provider rotated them, and the kill came before the response of that rotation
 * was stored. Such an account is refused with an error that says to connect it again. Every other account can refresh
 * its tokens.
 */
export async function checkGrants(server: ServerClient, counterpart: Counterpart, ledger: Ledger): Promise<void> {
  const lost: LedgerGrant[] = [];
  for (const grant of ledger.grants) {
    const mayBeLost = grant.isDoubtful && counterpart.rotationsOf(grant.name) > grant.rotations;
    const answer = await useGrant(server, grant.id);
    if (answer.status !== 200) {
      expect(mayBeLost, `the tokens of ${grant.name} are lost: ${answer.text}`).to.equal(true);
      expect(answer.body.code, answer.text).to.be.oneOf(['ACCOUNT_NOT_ACTIVE', 'TOOL_FAILED']);
      expect(answer.body.next_action?.type, answer.text).to.equal('reauthorize');
      lost.push(grant);
      continue;
    }
    grant.isDoubtful = false;
    grant.rotations = counterpart.rotationsOf(grant.name);
  }
  ledger.grants = ledger.grants.filter((grant) => !lost.includes(grant));
}
