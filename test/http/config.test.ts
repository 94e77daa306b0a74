import { inspect } from 'node:util';
import { expect } from 'chai';
import { databaseLocation, databaseName, readConfig } from '../../http/config/config.ts';
import { ConfigError } from '../../http/config/config-error.ts';
import { SETTINGS } from '../../http/config/settings.ts';
import { unknownSettings } from '../../http/config/unknown-settings.ts';

const SECRET = 'vks_0123456789abcdefghij';

describe('readConfig', () => {
  it('works without any variable', () => {
    const { config, secrets } = readConfig({});
    expect(config).to.deep.equal({
      host: '127.0.0.1',
      port: 8080,
      baseUrl: 'http://localhost:8080',
      dataDir: './data',
      databaseFile: 'data/valetkey.db',
      namedBy: { database: 'DATA_DIR', keys: 'DATA_DIR' },
      connections: { writers: 8, prepare: true },
      processes: 1,
      place: null,
      keysFile: 'data/keys',
      metricsHost: '127.0.0.1',
      telemetry: null,
      metricsPort: 8081,
      rateLimit: 100,
      webhookRate: 200,
      connectionsPerAddress: 1_000,
      trustedProxies: '',
      console: true,
      companyLogin: null,
      logLevel: 'info',
      logFormat: 'auto',
      securityContacts: [],
      securityPolicy: null,
      egressAllow: '',
      endpointOverrides: '',
      shutdownDelayMs: 0,
      checkAllResponses: false,
    });
    expect(secrets).to.deep.equal({
      databaseUrl: null,
      replicaUrl: null,
      listenUrl: null,
      keys: null,
      firstClient: null,
      companyLogin: null,
    });
  });

  it('treats an empty variable as absent', () => {
    const names = ['HOST', 'PORT', 'BASE_URL', 'DATA_DIR', 'DATABASE_URL', 'METRICS_PORT', 'LOG_LEVEL'];
    const vault = [
      'VALETKEY_KEYS',
      'VALETKEY_KEYS_FILE',
      'VALETKEY_CLIENT_ID',
      'VALETKEY_CLIENT_SECRET',
      'VALETKEY_RATE_LIMIT',
      'VALETKEY_CONNECTIONS_PER_ADDRESS',
      'VALETKEY_TRUSTED_PROXIES',
      'DATABASE_CONNECTIONS',
      'DATABASE_PREPARE',
      'DATABASE_REPLICA_URL',
      'DATABASE_LISTEN_URL',
      'VALETKEY_CONSOLE',
      'VALETKEY_CONSOLE_OIDC_ISSUER',
      'VALETKEY_CONSOLE_OIDC_CLIENT_SECRET',
      'VALETKEY_CONSOLE_OIDC_ROLES',
    ];
    const empty = Object.fromEntries([...names, ...vault].map((name) => [name, '']));
    expect(readConfig(empty)).to.deep.equal(readConfig({}));
  });

  it('keeps the address of a database server, which may contain a password, out of the configuration', () => {
    const { config, secrets } = readConfig({ DATABASE_URL: 'postgres://ada:secret-word@db/valetkey' });
    expect(JSON.stringify(config)).not.to.include('secret-word');
    expect(databaseLocation(config, secrets)).to.equal('postgres://ada:secret-word@db/valetkey');
    expect(databaseLocation(config, { databaseUrl: null })).to.equal('data/valetkey.db');
  });

  it('derives values from the port and the data directory', () => {
    const { config } = readConfig({ PORT: '9000', DATA_DIR: '/srv/valetkey' });
    expect(config).to.include({
      baseUrl: 'http://localhost:9000',
      metricsPort: 9001,
      databaseFile: '/srv/valetkey/valetkey.db',
      keysFile: '/srv/valetkey/keys',
    });
  });

  for (const [env, expected] of [
    [{ BASE_URL: 'https://keys.example.com/' }, { baseUrl: 'https://keys.example.com' }],
    [{ BASE_URL: 'https://KEYS.example.com:443' }, { baseUrl: 'https://keys.example.com' }],
    [{ METRICS_PORT: '0' }, { metricsPort: 0 }],
    [{ PORT: '0' }, { port: 0, metricsPort: 0 }],
    [{ VALETKEY_RATE_LIMIT: 'off' }, { rateLimit: null }],
    [{ VALETKEY_RATE_LIMIT: '5' }, { rateLimit: 5 }],
    [{ VALETKEY_WEBHOOK_RATE: 'off' }, { webhookRate: null }],
    [{ VALETKEY_WEBHOOK_RATE: '1000' }, { webhookRate: 1000 }],
    [{ VALETKEY_CONNECTIONS_PER_ADDRESS: 'off' }, { connectionsPerAddress: null }],
    [
      {
        VALETKEY_CONSOLE_OIDC_ISSUER: 'https://login.acme.example/t1',
        VALETKEY_CONSOLE_OIDC_CLIENT_ID: 'console',
        VALETKEY_CONSOLE_OIDC_SCOPES: 'email groups',
        VALETKEY_CONSOLE_OIDC_ROLES: 'owner=cn=admins,dc=acme; viewer=a;viewer=b',
      },
      {
        companyLogin: {
          issuer: 'https://login.acme.example/t1',
          clientId: 'console',
          scopes: ['openid', 'email', 'groups'],
          nameClaim: 'email',
          roleClaim: 'groups',
          roleValues: { OWNER: ['cn=admins,dc=acme'], VIEWER: ['a', 'b'] },
        },
      },
    ],
    [{ VALETKEY_CONNECTIONS_PER_ADDRESS: '20' }, { connectionsPerAddress: 20 }],
    [{ LOG_FORMAT: 'text' }, { logFormat: 'text' }],
    [{ VALETKEY_TRUSTED_PROXIES: '10.0.0.0/8' }, { trustedProxies: '10.0.0.0/8' }],
    [{ DATABASE_URL: 'file:/tmp/x.db' }, { databaseFile: '/tmp/x.db' }],
    [{ DATABASE_URL: '/tmp/y.db' }, { databaseFile: '/tmp/y.db' }],
    [{ DATABASE_URL: './y:1.db' }, { databaseFile: './y:1.db' }],
    [{ DATABASE_URL: 'file:///tmp/y.db' }, { databaseFile: '///tmp/y.db' }],
    [{ VALETKEY_KEYS_FILE: '/run/keys' }, { keysFile: '/run/keys' }],
    [{ LOG_LEVEL: 'warn' }, { logLevel: 'warn' }],
    [
      { VALETKEY_SECURITY_POLICY: 'https://acme.example/policy', VALETKEY_SECURITY_CONTACT: 'mailto:a@acme.example' },
      { securityPolicy: 'https://acme.example/policy' },
    ],
    [{ VALETKEY_SHUTDOWN_DELAY: '5' }, { shutdownDelayMs: 5000 }],
    [{ VALETKEY_CHECK_RESPONSES: 'all' }, { checkAllResponses: true }],
    [{ VALETKEY_CHECK_RESPONSES: '' }, { checkAllResponses: false }],
  ] as [Record<string, string>, Record<string, unknown>][]) {
    it(`reads ${JSON.stringify(env)}`, () => expect(readConfig(env).config).to.deep.include(expected));
  }

  for (const env of [
    { VALETKEY_TRUSTED_PROXIES: 'proxy.example' },
    { PORT: '65536' },
    { PORT: '-1' },
    { PORT: '0x50' },
    { PORT: '8e3' },
    { PORT: '80.5' },
    { PORT: 'http' },
    { METRICS_PORT: 'x' },
    { METRICS_PORT: '', PORT: '65535' },
    { BASE_URL: 'keys.example.com' },
    { BASE_URL: 'ftp://keys.example.com' },
    { BASE_URL: 'https://keys.example.com/api' },
    { BASE_URL: 'https://keys.example.com?x=1' },
    { BASE_URL: 'https://user:password@keys.example.com' },
    { DATABASE_CONNECTIONS: '0' },
    { DATABASE_CONNECTIONS: 'off' },
    { DATABASE_PREPARE: 'no' },
    { DATABASE_REPLICA_URL: 'file:x' },
    { DATABASE_LISTEN_URL: 'postgres://direct/valetkey' },
    { VALETKEY_CONSOLE_OIDC_ISSUER: 'https://login.acme.example' },
    { VALETKEY_CONSOLE_OIDC_CLIENT_ID: 'console' },
    { VALETKEY_CONSOLE_OIDC_ISSUER: 'http://login.acme.example', VALETKEY_CONSOLE_OIDC_CLIENT_ID: 'console' },
    { VALETKEY_CONSOLE_OIDC_ISSUER: 'https://a@login.acme.example', VALETKEY_CONSOLE_OIDC_CLIENT_ID: 'console' },
    ...['', 'admin=a', 'owner=', 'owner', 'owner=a,b;c', '__proto__=a'].map((VALETKEY_CONSOLE_OIDC_ROLES) => ({
      VALETKEY_CONSOLE_OIDC_ROLES,
      VALETKEY_CONSOLE_OIDC_ISSUER: 'https://login.acme.example',
      VALETKEY_CONSOLE_OIDC_CLIENT_ID: 'console',
    })),
    { DATABASE_REPLICA_URL: 'postgres://standby/valetkey' },
    { VALETKEY_RATE_LIMIT: '0' },
    { VALETKEY_RATE_LIMIT: '1.5' },
    { VALETKEY_CONNECTIONS_PER_ADDRESS: '0' },
    { VALETKEY_RATE_LIMIT: 'none' },
    { VALETKEY_RATE_LIMIT: '1e3' },
    { VALETKEY_RATE_LIMIT: ' ' },
    { VALETKEY_SHUTDOWN_DELAY: '61' },
    { VALETKEY_SHUTDOWN_DELAY: '1s' },
    { VALETKEY_CHECK_RESPONSES: 'some' },
    { VALETKEY_CHECK_RESPONSES: 'ALL' },
    { VALETKEY_CHECK_RESPONSES: 'true' },
    { DATABASE_URL: 'mysql://localhost/x' },
    { DATABASE_URL: 'https://example.com/x.db' },
    { DATABASE_URL: 'jdbc:sqlite:x.db' },
    { DATABASE_URL: 'postgres:db' },
    { DATABASE_URL: 'file://host/x.db' },
    { LOG_LEVEL: 'verbose' },
    { LOG_FORMAT: 'xml' },
    { VALETKEY_SECURITY_CONTACT: 'security@acme.example' },
    { VALETKEY_SECURITY_CONTACT: 'mailto:a@acme.example,javascript:alert(1)' },
    { VALETKEY_SECURITY_CONTACT: 'mailto:a@acme.example\nExpires: 2100-01-01T00:00:00Z' },
    { VALETKEY_SECURITY_POLICY: 'http://acme.example/policy' },
    { VALETKEY_SECURITY_POLICY: 'https://acme.example/policy' },
    { VALETKEY_CLIENT_ID: 'has space', VALETKEY_CLIENT_SECRET: SECRET },
    { VALETKEY_CLIENT_SECRET: 'x'.repeat(23), VALETKEY_CLIENT_ID: 'client' },
    { VALETKEY_CLIENT_SECRET: `${SECRET}ü`, VALETKEY_CLIENT_ID: 'client' },
    { VALETKEY_CLIENT_SECRET: 'x'.repeat(513), VALETKEY_CLIENT_ID: 'client' },
    { VALETKEY_CLIENT_ID: 'client' },
    { VALETKEY_CLIENT_SECRET: SECRET },
  ] as Record<string, string>[]) {
    it(`refuses ${JSON.stringify(env).slice(0, 80)} and names the variable`, () => {
      expect(() => readConfig(env))
        .to.throw(ConfigError)
        .with.property('message')
        .that.includes(Object.keys(env)[0]);
    });
  }

  it('keeps secrets masked, and out of the configuration (S8)', () => {
    const env = { VALETKEY_KEYS: 'k1:the-key', VALETKEY_CLIENT_ID: 'client', VALETKEY_CLIENT_SECRET: SECRET };
    const read = readConfig(env);
    expect(read.secrets.firstClient?.secret.reveal()).to.equal(SECRET);
    for (const text of [inspect(read, { depth: 9 }), JSON.stringify(read), String(read.secrets.keys)]) {
      expect(text).not.to.include(SECRET).and.not.to.include('the-key');
    }
  });

  it('does not quote a secret when it refuses it', () => {
    expect(() => readConfig({ VALETKEY_CLIENT_SECRET: 'short-secret', VALETKEY_CLIENT_ID: 'client' }))
      .to.throw(ConfigError)
      .with.property('message')
      .that.does.not.include('short-secret');
  });
});

describe('databaseName', () => {
  for (const [url, name] of [
    ['postgres://valetkey:pass-word@db.internal:5432/keys', 'postgres://db.internal:5432/keys'],
    ['postgresql://u:p@ss?w#rd@one:5432,two:5433/keys?target_session_attrs=any', 'postgresql://one:5432,two:5433/keys'],
    ['postgres://db.internal/keys?password=pass-word&sslmode=require', 'postgres://db.internal/keys'],
    ['postgres:///keys?host=/run/postgresql', 'postgres:///keys'],
  ] as const) {
    it(`shows no password of ${url}`, () => {
      const { config, secrets } = readConfig({ DATABASE_URL: url });
      expect(databaseName(config, secrets)).to.equal(name);
    });
  }
});

describe('unknownSettings', () => {
  it('reports unknown settings with the most similar known one', () => {
    const env = {
      VALETKEY_CHECK_RESPONSE: 'all',
      VALETKEY_EGRES_ALLOW: '127.0.0.1:1',
      VALETKEY_PORT: '80',
      VALETKEY_DATADIR: '/srv',
      VALETKEY_COLOUR: 'blue',
      VALETKEY_FOO: '1',
      VALETKEYS_FILE: '/srv/keys',
    };
    expect(unknownSettings(env)).to.deep.equal([
      'VALETKEYS_FILE is not a setting',
      'VALETKEY_CHECK_RESPONSE is not a setting; did you mean VALETKEY_CHECK_RESPONSES?',
      'VALETKEY_COLOUR is not a setting',
      'VALETKEY_DATADIR is not a setting; did you mean DATA_DIR?',
      'VALETKEY_EGRES_ALLOW is not a setting; did you mean VALETKEY_EGRESS_ALLOW?',
      // A short name is similar to many others, so there is no suggestion.
      'VALETKEY_FOO is not a setting',
      'VALETKEY_PORT is not a setting; did you mean PORT?',
    ]);
  });

  for (const [name, meant] of [
    ['valetkey_rate_limit', 'VALETKEY_RATE_LIMIT'],
    ['VALTKEY_KEYS', 'VALETKEY_KEYS'],
    ['VALET_KEY_KEYS', 'VALETKEY_KEYS'],
    ['VALETKEY_KEYFILE', 'VALETKEY_KEYS_FILE'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['BASE_URI', 'BASE_URL'],
    ['DATADIR', 'DATA_DIR'],
    ['METRIC_PORT', 'METRICS_PORT'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['DATABASE_CONNECTION', 'DATABASE_CONNECTIONS'],
    ['database_url', 'DATABASE_URL'],
  ] as const) {
    it(`warns about ${name}, which resembles ${meant}`, () => {
      expect(unknownSettings({ [name]: 'x' })).to.deep.equal([`${name} is not a setting; did you mean ${meant}?`]);
    });
  }

  it('ignores every known setting, and the variables of other programs', () => {
    const names = [...SETTINGS, 'PATH', 'HOME', 'HOSTNAME', 'POST', 'DATABASE_PORT', 'LOG_FILE', 'BASE', 'DATA'];
    expect(unknownSettings(Object.fromEntries(names.map((name) => [name, 'x'])))).to.deep.equal([]);
  });

  describe('variables of OpenTelemetry', () => {
    const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
    const telemetry = (env: Record<string, string>) => readConfig({ ...ENDPOINT, ...env }).config.telemetry;

    it('select what is sent, and the sampled share', () => {
      expect(telemetry({})).to.deep.equal({
        traces: true,
        metrics: true,
        logs: true,
        sampledShare: 1,
        metricIntervalMs: 60_000,
      });
      const sampled = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' };
      expect(telemetry({ ...sampled, OTEL_LOGS_EXPORTER: 'none' })).to.include({ sampledShare: 0.25, logs: false });
      expect(telemetry({ OTEL_SDK_DISABLED: 'true' })).to.equal(null);
    });

    for (const [name, value] of Object.entries({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'ftp://collector',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_TRACES_EXPORTER: 'zipkin',
      OTEL_TRACES_SAMPLER: 'jaeger_remote',
      OTEL_TRACES_SAMPLER_ARG: '2',
      OTEL_METRIC_EXPORT_INTERVAL: 'soon',
    })) {
      it(`reject the value ${value} of ${name}`, () => {
        expect(() => telemetry({ [name]: value })).to.throw(name);
      });
    }
  });
});
