import type { Lab, Scenario } from '../scenario.ts';

const TOOLS = 5000;

function documentOf(summary: string): string {
  const parameters = Array.from({ length: 3 }, (_, n) => ({
    name: `filter_${n}`,
    in: 'query',
    schema: { type: 'string' },
  }));
  const paths = Object.fromEntries(
    Array.from({ length: TOOLS }, (_, n) => [`/things/${n}`, { get: { operationId: `get${n}`, summary, parameters } }]),
  );
  return JSON.stringify({
    openapi: '3.0.3',
    info: { title: 'Acme', version: '1' },
    servers: [{ url: 'https://api.acme.example' }],
    paths,
  });
}

async function importAll(lab: Lab, summary: string, apply = true): Promise<string> {
  const files = [{ name: 'openapi.json', content: documentOf(summary) }];
  const reply = await lab.call('POST', '/api/v1/tools:import', {
    body: { connector: 'acme', files, apply, limit: TOOLS },
  });
  const { changes } = reply.body ?? {};
  return `${reply.status} ${changes?.added.length} added, ${changes?.changed.length} changed`;
}

/** @param before the summary of a previous import; null for none */
function imported(name: string, before: string | null, play: (lab: Lab) => Promise<string>): Scenario {
  return {
    id: 'own',
    // The maximum heap of the thread that reads the document.
    grantedMiB: 768,
    name,
    prepare: async (lab) => {
      if (before !== null) await importAll(lab, before);
    },
    play,
  };
}

export const IMPORTS: readonly Scenario[] = [
  imported('import of 5000 tools', null, (lab) => importAll(lab, 'Get a thing')),
  imported('preview of an import of 5000 tools', null, (lab) => importAll(lab, 'Get a thing', false)),
  imported('import that changes 5000 tools', 'Get a thing', (lab) => importAll(lab, 'Get another thing')),
  imported('import that changes nothing in 5000 tools', 'Get a thing', (lab) => importAll(lab, 'Get a thing')),
  imported('removal of a provider with 5000 tools', 'Get a thing', async (lab) =>
    String(await lab.status('DELETE', '/api/v1/custom-providers/acme')),
  ),
];
