import { createEgress } from '../../../core/net/egress.ts';
import { EgressError } from '../../../core/net/egress-error.ts';
import { EgressPolicy } from '../../../core/net/policy.ts';

// Runs in a separate process, because Node reads its settings at start. Arguments: the address to call, and authorities
// to trust.
const [, , address = '', ...ca] = process.argv;
const url = new URL(address);
const allow = [{ host: url.hostname, port: Number(url.port) }];
const egress = createEgress(new EgressPolicy({ allow, overrides: [] }), { ca });

async function outcomeOf(call: Promise<{ status: number }>): Promise<unknown> {
  return call.then(
    ({ status }) => status,
    (error: unknown) => (error instanceof EgressError ? error.kind : 'another error'),
  );
}

const send = await outcomeOf(egress.send({ method: 'GET', url, allowedOrigins: [url.origin] }));
const fetchLike = await outcomeOf(egress.fetchLike(url));
const globalFetch = await outcomeOf(fetch(url));
await egress.close();
process.stdout.write(JSON.stringify({ send, fetchLike, globalFetch }));
