import { createEgress } from '../../../core/net/egress.ts';
import { EgressError } from '../../../core/net/egress-error.ts';
import { EgressPolicy } from '../../../core/net/policy.ts';

// A process of its own, since Node reads these variables at its start. Arguments: the address to call.
const url = new URL(process.argv[2] ?? '');
const allow = [{ host: url.hostname, port: Number(url.port) }];
const egress = createEgress(new EgressPolicy({ allow, overrides: [] }));

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
