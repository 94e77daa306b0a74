import { expect } from 'chai';
import { publishHeads } from '../../../core/audit/publish-heads.ts';
import { type WebhookWorld, webhookWorld } from '../../support/webhooks.ts';

describe('the ends of the audit log', () => {
  let world: WebhookWorld;

  before(async () => {
    world = await webhookWorld();
  });
  after(() => world.stop());

  it('are published as an event, if there are new entries', async () => {
    const publish = () => publishHeads(world.server.parts, new AbortController().signal);
    await world.create({ event_types: ['environment.audit_head'] });
    const [last] = (await world.server.call('GET', '/api/v1/audit_events')).body.audit_events;
    await publish();
    const [event, ...others] = await world.events();
    expect(others).to.deep.equal([]);
    expect(event?.type).to.equal('environment.audit_head');
    expect(event?.data['heads']).to.deep.equal([{ seq: last.seq, hash: last.hash }]);
    await publish();
    expect(await world.events()).to.have.length(1);
    await world.cause();
    await publish();
    expect(await world.events()).to.have.length(2);
  });
});
