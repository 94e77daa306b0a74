import { expect } from 'chai';
import { logIn, offer } from '../support/operators.ts';
import { walkPages } from '../support/pages.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/operator_sessions';

describe('listOperatorSessions', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  describe('200', () => {
    it('lists sessions and unused addresses, newest first, without their secrets', async () => {
      const open = await logIn(server, 'ada', 'EDITOR');
      const offered = await offer(server, 'bob', 'VIEWER');
      const answer = await server.call('GET', PATH);
      const [second, first] = answer.body.operator_sessions;
      expect(second).to.include({
        id: offered.id,
        state: 'OFFERED',
        operator: 'bob',
        role: 'VIEWER',
        last_used_at: null,
      });
      expect(first).to.include({ id: open.id, state: 'OPEN', operator: 'ada', role: 'EDITOR' });
      expect(first.last_used_at).to.be.a('string');
      expect(answer.text).not.to.include(offered.token);
      const pages = await walkPages(server, `${PATH}?page_size=1`, 'operator_sessions');
      expect(pages.flat()).to.have.length(2);
    });

    it('returns nothing of another environment (C1)', async () => {
      const other = await addSecondEnvironment(server);
      expect((await other.call('GET', PATH)).body).to.deep.include({ operator_sessions: [], total_size: 0 });
    });
  });

  describe('400', () => {
    it('rejects a forged page token', async () => {
      const answer = await server.call('GET', `${PATH}?page_token=invented`);
      expect(answer.body).to.include({ status: 400, code: 'INVALID_PAGE_TOKEN' });
    });
  });
});
