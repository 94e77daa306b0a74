import { expect } from 'chai';
import fc from 'fast-check';
import { isDue, isExpired } from '../../../core/accounts/freshness.ts';
import type { AccountRow } from '../../../db/store.ts';

const ISSUED = 1_750_000_000_000;
const HOUR = 3_600_000;

function account(over: Partial<AccountRow> = {}): AccountRow {
  const row = { status: 'ACTIVE', authorizationType: 'OAUTH', updatedAt: ISSUED, tokenExpiresAt: ISSUED + HOUR };
  return { ...row, ...over } as AccountRow;
}

/** Whether the token of an account is due for a refresh. @param dice the random value of the jitter, 0 to 1 */
function dueAt(row: AccountRow, at: number, dice = 0.5): boolean {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(Math.floor(dice * 0xffff_ffff));
  return isDue(row, { now: () => at, random: () => bytes });
}

describe('when a token is refreshed (R7)', () => {
  const end = ISSUED + HOUR;

  it('is about a minute before its expiry', () => {
    expect(dueAt(account(), end - 73_000, 1)).to.equal(false);
    expect(dueAt(account(), end - 61_000)).to.equal(false);
    expect(dueAt(account(), end - 59_000)).to.equal(true);
    expect(dueAt(account(), end - 47_000, 0)).to.equal(true);
  });

  it('varies between calls within the jitter, so that many accounts are not refreshed together', () => {
    expect(dueAt(account(), end - 65_000, 1)).to.equal(true);
    expect(dueAt(account(), end - 65_000, 0)).to.equal(false);
    expect(dueAt(account(), end - 55_000, 0)).to.equal(false);
  });

  it('is a tenth of its lifetime before its expiry if that is less than a minute', () => {
    const short = account({ tokenExpiresAt: ISSUED + 100_000 });
    expect(dueAt(short, ISSUED + 89_000)).to.equal(false);
    expect(dueAt(short, ISSUED + 91_000)).to.equal(true);
  });

  it('is never for a token without a known expiry', () => {
    const row = account({ tokenExpiresAt: null });
    expect(dueAt(row, end * 2)).to.equal(false);
    expect(isExpired(row, end * 2)).to.equal(false);
  });

  it('is never for an account that is not active', () => {
    for (const status of ['EXPIRED', 'PENDING_AUTH', 'PENDING_VERIFICATION', 'DISCONNECTED'] as const) {
      expect(dueAt(account({ status }), end + 1), status).to.equal(false);
    }
  });

  it('applies only to authorization types whose tokens the server obtains', () => {
    for (const authorizationType of ['OAUTH', 'SMART_FHIR', 'OAUTH_M2M', 'WORKSPACE_DWD', 'TRUSTED_IDP'] as const) {
      expect(dueAt(account({ authorizationType }), end), authorizationType).to.equal(true);
    }
    for (const authorizationType of ['API_KEY', 'BOARD_OAUTH1', 'NO_AUTH'] as const) {
      expect(dueAt(account({ authorizationType }), end), authorizationType).to.equal(false);
    }
  });

  it('is immediate when the clock is before the time of issue, because the stored expiry cannot be trusted', () => {
    expect(dueAt(account(), ISSUED - 59_000)).to.equal(false);
    expect(dueAt(account(), ISSUED - HOUR)).to.equal(true);
  });

  it('is between 72 seconds before the expiry and the expiry itself', () => {
    const life = fc.integer({ min: 1, max: 90 * 24 * HOUR });
    const dice = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(life, fc.double({ min: 0, max: 1.5, noNaN: true }), dice, (ms, share, drawn) => {
        const row = account({ tokenExpiresAt: ISSUED + ms });
        const at = ISSUED + Math.floor(ms * share);
        if (at >= ISSUED + ms) expect(dueAt(row, at, drawn)).to.equal(true);
        if (dueAt(row, at, drawn)) expect(ISSUED + ms - at).to.be.at.most(Math.min(72_000, ms * 0.12));
      }),
    );
  });
});
