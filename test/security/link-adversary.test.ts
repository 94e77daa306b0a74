import { expect } from 'chai';
import { Random } from '../fuzz/random.ts';
import { amount } from '../support/amount.ts';
import { type LinkWorld, startLinkWorld } from '../support/link-world.ts';
import { accountOf } from '../support/links.ts';
import { firstEnvironment } from '../support/tokens.ts';
import { Adversary } from './link-adversary.ts';

/** `make soak` runs a thousand flows. */
const FLOWS = amount(process.env['LINK_FLOWS'], 30);
const SEED = amount(process.env['LINK_SEED'], 20261120, 0);
const MOVES = 12;

describe('random attacks on links (L1 to L9)', function () {
  this.timeout(600_000 + FLOWS * 2_000);
  let world: LinkWorld;

  before(async () => {
    world = await startLinkWorld();
  });
  after(() => world.stop());

  /**
   * Returns the user at the provider whose account an account of the application uses; undefined if it is not in use.
   */
  async function subjectOf(identifier: string): Promise<string | null | undefined> {
    const account = await accountOf(world.server, identifier);
    if (account?.status !== 'ACTIVE') return undefined;
    const { id } = await firstEnvironment(world.server);
    return (await world.server.parts.store.read.accounts.get(id, account.id))?.providerSubject;
  }

  it(`give no one the account of another user in ${FLOWS} flows, and prevent no one from connecting their own`, async () => {
    const seen = { honest: 0, moves: new Set<string>() };
    for (let flow = 0; flow < FLOWS; flow++) {
      const attack = new Adversary(world, flow, new Random(SEED + flow));
      await attack.run(MOVES);
      const place = `LINK_SEED=${SEED + flow} LINK_FLOWS=1: ${attack.trail.join(' ')}`;
      expect(await subjectOf(attack.mallory.name), place).to.be.oneOf([undefined, attack.mallory.name]);
      expect(await subjectOf(attack.victim.name), place).to.be.oneOf([undefined, attack.victim.name]);
      if (attack.honest > 0) expect(await subjectOf(attack.victim.name), place).to.equal(attack.victim.name);
      seen.honest += attack.honest;
      for (const move of attack.trail) seen.moves.add(move);
    }
    // The control: the victim's own links succeeded, so the attacks do not fail because nothing works.
    expect(seen.honest).to.be.greaterThan(FLOWS / 10);
    expect(seen.moves.size).to.equal(11);
  });
});
