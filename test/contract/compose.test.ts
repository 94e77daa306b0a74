import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { hostsOf } from '../../db/postgres/hosts.ts';
import { readConfig } from '../../http/config/config.ts';
import { SETTINGS } from '../../http/config/settings.ts';

interface Service {
  image: string;
  command?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  profiles?: string[];
}

const read = (name: string) => readFileSync(join(import.meta.dirname, '../../deploy/postgres', name), 'utf8');
const VARIABLES = { VALETKEY_HOST: 'keys.example.com', DATABASE_PASSWORD: 'secret' };

/** Replaces variables as compose does. @throws Error for a variable that `VARIABLES` does not contain */
function substitute(text: string): string {
  return text.replaceAll(/\$\{(\w+)(?::\?[^}]*)?\}/g, (_, name: string) => {
    const value = VARIABLES[name as keyof typeof VARIABLES];
    if (value === undefined) throw new Error(`unknown variable ${name}`);
    return value;
  });
}

describe('deploy/postgres', () => {
  const text = read('compose.yaml');
  const { services, volumes, networks } = parse(substitute(text), { merge: true }) as {
    services: Record<string, Service>;
    volumes: Record<string, object>;
    networks: { inner: { ipam: { config: [{ subnet: string }] } } };
  };
  const servers = Object.entries(services).filter(([name]) => /^valetkey-\d+$/.test(name));
  const ours = Object.entries(services).filter(([, { image }]) => image === 'valetkey');

  it('has two servers with the same settings, all of which the server knows and accepts', () => {
    expect(servers.map(([name]) => name)).to.deep.equal(['valetkey-1', 'valetkey-2']);
    for (const [, { environment = {} }] of ours) {
      expect(SETTINGS as readonly string[]).to.include.members(Object.keys(environment));
      const { config, secrets } = readConfig(environment);
      expect(config.baseUrl).to.equal('https://keys.example.com');
      expect(hostsOf(secrets.databaseUrl?.reveal() ?? '')).to.deep.equal([
        'postgres://valetkey:secret@postgres/valetkey',
      ]);
      expect(config.trustedProxies).to.equal(networks.inner.ipam.config[0].subnet);
      expect(environment['VALETKEY_KEYS_FILE']).to.match(/^\/etc\/valetkey\//);
    }
  });

  it('creates the database of the URL for the user of the URL', () => {
    const { POSTGRES_USER, POSTGRES_DB, POSTGRES_PASSWORD } = services['postgres']?.environment ?? {};
    expect(`postgres://${POSTGRES_USER}:${POSTGRES_PASSWORD}@postgres/${POSTGRES_DB}`).to.equal(
      servers[0]?.[1].environment?.['DATABASE_URL'],
    );
  });

  it('lets only the setup commands, which do not start with the servers, write the key file', () => {
    for (const [name, { profiles, volumes: own = [] }] of ours) {
      const isServer = servers.some(([server]) => server === name);
      expect(own.includes('./keys:/etc/valetkey:ro'), name).to.equal(isServer);
      expect(profiles, name).to.deep.equal(isServer ? undefined : ['commands']);
    }
    const named = Object.values(services).flatMap(({ volumes: own = [] }) => own.map((each) => each.split(':')[0]));
    expect(named.filter((name) => !name?.startsWith('.'))).to.include.members(Object.keys(volumes));
  });

  it('sends requests to each server, and checks whether it is ready', () => {
    const proxy = read('Caddyfile');
    const upstreams = /^\treverse_proxy (.*) \{$/m.exec(proxy)?.[1]?.split(' ');
    expect(upstreams).to.deep.equal(servers.map(([name]) => `${name}:8080`));
    expect(proxy).to.match(/^\t\thealth_uri \/readyz$/m);
  });

  it('describes the commands of the setup in the order in which they are needed', () => {
    const steps = [...text.matchAll(/^# {3}docker compose (.*?)(?: {2,}#.*)?$/gm)].map(([, step]) => step?.trim());
    expect(steps).to.deep.equal(['run --rm migrate', 'run --rm init', 'up --detach']);
    expect(services['migrate']?.command).to.deep.equal(['db', 'migrate']);
    expect(services['init']?.command).to.deep.equal(['init']);
  });
});
