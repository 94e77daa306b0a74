import { expect } from 'chai';
import { tempDir } from '../support/temp-dir.ts';
import { CLIENTS } from './support/mcp-clients/clients.ts';
import { type ClientsWorld, startClientsWorld, TOOL } from './support/mcp-clients/world.ts';

describe('MCP clients of other authors log in by themselves (X2)', () => {
  let world: ClientsWorld;
  let machine: { path: string; remove(): void };

  beforeEach(async () => {
    machine = tempDir();
    world = await startClientsWorld();
  });
  afterEach(async () => {
    await world?.stop();
    machine.remove();
  });

  for (const [name, client] of Object.entries(CLIENTS)) {
    it(`${name} logs in, lists, calls, refreshes its token, and is refused after a revocation`, async () => {
      const place = { home: machine.path, world };
      await client.setUp?.(place);
      const refused = async (when: string) => {
        const before = world.upstream.requests.length;
        const { output } = await client.call(place);
        expect(output, when).to.not.include(TOOL.result);
        expect(world.upstream.requests.length, when).to.equal(before);
      };
      const works = async (when: string) => {
        const before = world.upstream.requests.length;
        const { output } = await client.call(place);
        expect(output, when).to.include(TOOL.result);
        expect(world.upstream.requests.length, when).to.equal(before + 1);
      };
      await refused('before the login');
      await client.logIn(place, (url) => world.logIn(url, 'Cancel'));
      await refused('after its user has denied access');

      const { output } = await client.logIn(place, (url) => world.logIn(url));
      expect(world.logins(), output).to.equal(2);
      const listed = await client.list(place);
      expect(listed.output).to.match(client.listed);
      await works('after the login');

      world.expire();
      await works('after the access token has expired');
      expect(world.logins(), 'a refresh needs no login').to.equal(2);

      const { body } = await world.server.call('POST', '/api/v1/mcp/grants:revoke', { body: { user_id: 'user_ada' } });
      expect(body.revoked).to.equal(1);
      await refused('after the revocation');
    });
  }
});
