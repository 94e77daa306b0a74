import { expect } from 'chai';
import { ApiError } from '../../../core/errors.ts';
import { EgressError } from '../../../core/net/egress-error.ts';
import { executeTool } from '../../../core/tools/execute.ts';
import { executeSteps } from '../../../core/tools/execute-steps.ts';
import { RETRY_LIMITS } from '../../../core/tools/retry.ts';
import type { Tool } from '../../../core/tools/tool.ts';
import { json, NOW, portsOf, prepared, tokenCredential, toolOf, writingTool } from './samples.ts';

const { deadlineMs } = RETRY_LIMITS;
const TIMEOUT = { kind: 'upstream_timeout', message: `The call did not finish within ${deadlineMs} ms.` };

/** A tool that reads an id, and then reads the object with this id. */
function twoRequests(tool: Tool) {
  const steps = [{ take: { thing_id: '/id' }, method: 'GET' as const, path: '/things/{thing_id}' }];
  const toolInput = tool.hints.read_only ? {} : { name: 'n' };
  return prepared({ tool: { ...tool, request: { ...tool.request, steps } }, toolInput });
}

/** Ports with a clock that each response advances by some milliseconds. */
function slowPorts(answers: unknown[], takenMs: number[], parts: Parameters<typeof portsOf>[1] = {}) {
  let now = NOW;
  const timeouts: number[] = [];
  const ports = portsOf(answers);
  const send: typeof ports.send = async (request, timeoutMs) => {
    timeouts.push(timeoutMs);
    now += takenMs.shift() ?? 0;
    return await ports.send(request, timeoutMs);
  };
  return { ...ports, ...parts, send, now: () => now, timeouts };
}

describe('Executing a tool with several requests', () => {
  it('gives the next request what is left of the deadline', async () => {
    const ports = slowPorts([json(200, { id: 7 }), json(200, { name: 'n' })], [deadlineMs - 1]);
    expect(await executeSteps(twoRequests(toolOf()), ports)).to.deep.include({ ok: true, data: { name: 'n' } });
    expect(ports.timeouts).to.deep.equal([deadlineMs, 1]);
  });

  it('ends with a timeout, and sends nothing more, if the first request uses up the deadline', async () => {
    for (const takenMs of [deadlineMs, deadlineMs + 5]) {
      const ports = slowPorts([json(200, { id: 7 }), json(200, {})], [takenMs]);
      const outcome = await executeSteps(twoRequests(toolOf()), ports);
      expect(outcome).to.deep.include({ ok: false, sent: true });
      expect(outcome.ok ? {} : outcome.error).to.deep.include({ ...TIMEOUT, retryable: true });
      expect(ports.timeouts).to.deep.equal([deadlineMs]);
    }
  });

  it('says of a write that it was sent and must not be repeated, however its second request fails', async () => {
    const ended = slowPorts([json(200, { id: 7 })], [deadlineMs]);
    const refused = slowPorts([json(200, { id: 7 }), new EgressError('busy', 'Busy.', { sent: false })], []);
    const limited = slowPorts([json(200, { id: 7 }), json(429, {}, { 'retry-after': '3600' })], []);
    for (const [ports, kind] of [
      [ended, 'upstream_timeout'],
      [refused, 'service_busy'],
      [limited, 'upstream_rate_limited'],
    ] as const) {
      const outcome = await executeSteps(twoRequests(writingTool()), ports);
      expect(outcome, kind).to.deep.include({ ok: false, sent: true });
      expect(outcome.ok ? {} : outcome.error, kind).to.include({ kind, retryable: false });
    }
  });

  it('says of a write that it was sent if no credential can be obtained for its second request', async () => {
    for (const [code, kind] of [
      ['SERVER_BUSY', 'service_busy'],
      ['ACCOUNT_NOT_ACTIVE', 'upstream_auth'],
    ] as const) {
      const refresh = async () => {
        throw new ApiError(code, 'No slot.');
      };
      const ports = slowPorts([json(200, { id: 7 }), json(401, {})], [], { refresh });
      const outcome = await executeSteps(twoRequests(writingTool()), ports);
      expect(outcome, code).to.deep.include({ ok: false, sent: true });
      expect(outcome.ok ? {} : outcome.error, code).to.include({ kind, retryable: false, message: 'No slot.' });
    }
  });

  it('is rejected before anything is sent if a later request cannot contain the input', () => {
    const path = '/things/{thing_id}/{name}';
    const steps = [{ take: { thing_id: '/id' }, method: 'GET' as const, path }];
    const tool = writingTool();
    const call = { tool: { ...tool, request: { ...tool.request, steps } } };
    let rejected: unknown;
    try {
      prepared({ ...call, toolInput: { name: '..' } });
    } catch (error) {
      rejected = error;
    }
    expect(rejected).to.be.instanceOf(ApiError).and.include({ code: 'INVALID_TOOL_INPUT' });
    expect((rejected as ApiError).errors?.[0]?.field).to.equal('tool_input.name');
    expect(prepared({ ...call, toolInput: { name: 'n' } }).input).to.deep.equal({ name: 'n' });
  });

  it('ends with a timeout if a refresh uses up the deadline', async () => {
    const refresh = async () => tokenCredential('renewed_token');
    const ports = slowPorts([json(401, {}), json(200, {})], [deadlineMs + 5], { refresh });
    const outcome = await executeTool(prepared({ tool: writingTool(), toolInput: { name: 'n' } }), ports);
    expect(outcome).to.deep.include({ ok: false, sent: true });
    expect(outcome.ok ? {} : outcome.error).to.include({ ...TIMEOUT, retryable: false });
    expect(ports.timeouts).to.deep.equal([deadlineMs]);
  });
});
