import { expect } from 'chai';
import { request as send } from 'undici';
import { startServer } from '../../http/server.ts';
import { freePort } from '../../scripts/demo/process.ts';
import { execute } from '../support/execute.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { startTestServer } from '../support/server.ts';
import { startUpstream } from '../support/upstream.ts';

describe('metrics', () => {
  it('are served on a separate port on loopback, and not by the API (S11)', async () => {
    const acme = await startUpstream();
    const server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN) } });
    const metricsPort = await freePort();
    const { parts } = server;
    const second = await startServer({ ...parts, config: { ...parts.config, metricsPort }, close: async () => {} });
    try {
      const { id } = await createKeyedAccount(server);
      await execute(server, id, 'http_get', { path: '/' });
      await server.call('GET', '/api/v1/connections', { token: null });
      const read = async (path: string, method = 'GET') =>
        send(`http://127.0.0.1:${metricsPort}${path}`, { method: method as 'GET' });
      const text = await (await read('/metrics')).body.text();
      expect(text).to.match(/^valetkey_\w*duration_seconds_count\{.*operation="listConnections".*status="401".*\} 1$/m);
      expect(text).to.match(/^valetkey_tool_execution_duration_seconds_count\{.*outcome="success".*\} 1$/m);
      expect(text).to.match(/^valetkey_body_bytes 0$/m);
      expect(text).to.match(/^valetkey_process_resident_memory_bytes /m);
      expect((await read('/')).statusCode).to.equal(404);
      expect((await read('/metrics', 'POST')).statusCode).to.equal(405);
      expect((await server.call('GET', '/metrics', { token: null })).status).to.equal(404);
    } finally {
      await second.stop();
      await server.stop();
      await acme.stop();
    }
  });
});
