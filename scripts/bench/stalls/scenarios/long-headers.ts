import type { Party, Scenario } from '../scenario.ts';

let caller: Party;

const connection: Scenario = {
  id: 'H7',
  name: 'raw call whose response has 60,000 blanks in Connection',
  async prepare(lab) {
    lab.on('/small', (_req, res) => res.writeHead(200).end('small'));
    lab.on('/blanks', (_req, res) => res.writeHead(200, { connection: `a${' '.repeat(60_000)}b` }).end('small'));
    caller = await lab.party();
    await lab.status('GET', '/api/v1/proxy/small', { headers: { 'valetkey-account-id': caller.accountId } });
  },
  play: async (lab) => {
    const headers = { 'valetkey-account-id': caller.accountId };
    return `${await lab.status('GET', '/api/v1/proxy/blanks', { headers })}`;
  },
};

const acceptedCoding: Scenario = {
  id: 'own',
  name: 'request for a document with a weight of 15,000 digits',
  async prepare(lab) {
    await lab.status('GET', '/openapi.json', { token: null });
  },
  play: async (lab) => {
    const headers = { 'accept-encoding': `br;q=0.${'1'.repeat(15_000)}x` };
    return `${await lab.status('GET', '/openapi.json', { token: null, headers })}`;
  },
};

/** Header fields for which a regular expression could take quadratic time. */
export const LONG_HEADERS: readonly Scenario[] = [connection, acceptedCoding];
