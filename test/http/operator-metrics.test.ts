import { expect } from 'chai';
import { programVersion } from '../../core/program-version.ts';
import { createMetrics } from '../../http/monitoring/metrics.ts';
import { addOutboundMetrics } from '../../wiring/outbound-metrics.ts';
import { execute } from '../support/execute.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { startTestServer } from '../support/server.ts';
import { json, startUpstream } from '../support/upstream.ts';

describe('metrics for operators', () => {
  it('show accounts by status, committed events, commits, running calls and the build', async () => {
    const held = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const acme = await startUpstream(async (_request, res) => {
      reached.resolve();
      await held.promise;
      json(res, 200, {});
    });
    const server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN) } });
    try {
      const { registry } = server.parts.metrics;
      const { id } = await createKeyedAccount(server);
      await createKeyedAccount(server);
      const call = execute(server, id, 'http_get', { path: '/' });
      await reached.promise;
      const during = await registry.metrics();
      expect(during).to.match(/^valetkey_accounts\{status="ACTIVE"\} 2$/m);
      expect(during).to.match(/^valetkey_events_total\{type="connected_account\.created"\} 2$/m);
      expect(during).to.match(/^valetkey_commit_duration_seconds_count\{kind="write",outcome="committed"\} [1-9]\d*$/m);
      // The override directs the calls to this origin.
      const running = `valetkey_outbound_calls{origin="http://127.0.0.1:${acme.port}",state="running"} 1`;
      expect(during).to.include(running);
      expect(during).to.include(`valetkey_build_info{version="${programVersion()}",node="${process.version}"} 1`);
      held.resolve();
      await call;
      expect(await registry.metrics()).not.to.include(running);
    } finally {
      held.resolve();
      await server.stop();
      await acme.stop();
    }
  });

  it('count refreshes by connector, and connectors beyond the limit as one', async () => {
    const metrics = createMetrics();
    for (let i = 0; i < 600; i++) metrics.refresh(`connector_${i}`, 'success');
    metrics.refresh('connector_0', 'failed');
    const text = await metrics.registry.metrics();
    expect(text).to.include('valetkey_refreshes_total{connector="connector_0",outcome="failed"} 1');
    expect(text).to.include('valetkey_refreshes_total{connector="other",outcome="success"} 100');
    expect(text.match(/^valetkey_refreshes_total\{/gm)).to.have.length(502);
  });

  it('count executions by connector and tool, and names beyond the limits as one, because providers and tools can be added and deleted without end', async () => {
    const metrics = createMetrics();
    for (let i = 0; i < 2_100; i++) metrics.execution(`connector_${i}`, `tool_${i}`, 'success', 0.1);
    const text = await metrics.registry.metrics();
    expect(text).to.include('valetkey_tool_execution_duration_seconds_count{connector="other",outcome="success"} 1600');
    expect(text.match(/^valetkey_tool_execution_duration_seconds_count\{/gm)).to.have.length(501);
    expect(text).to.include('valetkey_tool_executions_total{connector="other",tool="other",outcome="success"} 100');
    expect(text.match(/^valetkey_tool_executions_total\{/gm)).to.have.length(2_001);
  });

  it('show the origins with the most calls and those to which calls are paused', async () => {
    const metrics = createMetrics();
    const states = Array.from({ length: 300 }, (_, i) => ({
      origin: `https://host-${i}.example`,
      active: i,
      waiting: 0,
      isPaused: i === 299,
    }));
    addOutboundMetrics({ metrics }, () => [...states, { ...(states[299] as (typeof states)[0]), active: 1 }]);
    const text = await metrics.registry.metrics();
    expect(text).to.include('valetkey_outbound_calls{origin="https://host-299.example",state="running"} 300');
    expect(text).to.include('valetkey_outbound_paused{origin="https://host-299.example"} 1');
    expect(text.match(/^valetkey_outbound_calls\{.*state="running"/gm)).to.have.length(100);
  });
});
