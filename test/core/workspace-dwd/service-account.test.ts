import { generateKeyPairSync } from 'node:crypto';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { OAuthConfigError } from '../../../core/oauth/config-error.ts';
import { Secret } from '../../../core/secret.ts';
import { checkServiceAccount, readServiceAccount } from '../../../core/workspace-dwd/service-account.ts';
import { CLIENT_EMAIL, keyFile } from './delegation-server.ts';

function failureOf(file: Secret): Error {
  try {
    readServiceAccount(file);
  } catch (error) {
    return error as Error;
  }
  throw new Error('The file was taken.');
}

function pemOf(type: 'ec' | 'rsa', options: object): string {
  const generate = generateKeyPairSync as (type: string, options: object) => ReturnType<typeof generateKeyPairSync>;
  const { privateKey } = generate(type, options) as unknown as { privateKey: { export(options: object): string } };
  return privateKey.export({ type: 'pkcs8', format: 'pem' });
}

describe('the key file of a service account', () => {
  it('is read', () => {
    const { privateKey, tokenUri, ...rest } = readServiceAccount(keyFile());
    expect(rest).to.deep.equal({ clientEmail: CLIENT_EMAIL, clientId: '104000000000000000001', keyId: 'key-1' });
    expect(privateKey.asymmetricKeyType).to.equal('rsa');
    expect(tokenUri.href).to.equal('https://workspace.example/token');
  });

  it('may lack the ids', () => {
    const account = readServiceAccount(keyFile({ client_id: undefined, private_key_id: '' }));
    expect([account.clientId, account.keyId]).to.deep.equal([null, null]);
  });

  it('may have its line breaks escaped twice, as in environment variables', () => {
    const pem = (JSON.parse(keyFile().reveal()) as { private_key: string }).private_key;
    const account = readServiceAccount(keyFile({ private_key: pem.replaceAll('\n', '\\n') }));
    expect(account.privateKey.type).to.equal('private');
  });

  it('may begin with a byte order mark, as editors write it', () => {
    const marked = new Secret(`\uFEFF${keyFile().reveal()}`);
    expect(readServiceAccount(marked).clientEmail).to.equal(CLIENT_EMAIL);
  });

  it('must belong to the provider that its assertions are sent to', () => {
    const check = (tokenUri: string, endpoint: string) => () =>
      checkServiceAccount(keyFile({ token_uri: tokenUri }), URL.parse(endpoint) ?? undefined);
    const google = 'https://oauth2.googleapis.com/token';
    expect(check('https://workspace.example/v2/token', 'https://workspace.example/token')).not.to.throw();
    expect(check('https://workspace.example/token', '')).not.to.throw();
    expect(check('https://accounts.google.com/o/oauth2/token', google)).not.to.throw();
    expect(check('https://www.googleapis.com/oauth2/v4/token', google)).not.to.throw();
    expect(check(google, 'https://accounts.google.com/o/oauth2/token')).to.throw(/is at oauth2\.googleapis\.com/);
    expect(check('https://workspace.example.net/token', 'https://workspace.example/token')).to.throw(
      OAuthConfigError,
      '"token_uri" of the service account key is at workspace.example.net, but the token endpoint of the provider is at workspace.example.',
    );
    expect(check('https://workspace.example:8443/token', 'https://workspace.example/token')).to.throw(/:8443/);
  });

  const pem = () => (JSON.parse(keyFile().reveal()) as { private_key: string }).private_key;
  const cases: [title: string, file: () => Secret, says: RegExp][] = [
    ['no JSON', () => new Secret(pem()), /not JSON/],
    ['half a file', () => new Secret(keyFile().reveal().slice(0, -20)), /not JSON/],
    ['a list', () => new Secret('[]'), /not a JSON object/],
    ['null', () => new Secret('null'), /not a JSON object/],
    ['nothing', () => new Secret(''), /not JSON/],
    ['the key of a person', () => keyFile({ type: 'authorized_user' }), /"type"/],
    ['no type', () => keyFile({ type: undefined }), /"type"/],
    ['no address', () => keyFile({ client_email: undefined }), /no "client_email"/],
    ['an address that is none', () => keyFile({ client_email: 'robot' }), /"client_email"/],
    ['no key', () => keyFile({ private_key: undefined }), /no "private_key"/],
    ['a key that is a number', () => keyFile({ private_key: 7 }), /no "private_key"/],
    ['half a key', () => keyFile({ private_key: pem().slice(0, 300) }), /not a private key in PEM/],
    ['another kind of key', () => keyFile({ private_key: pemOf('ec', { namedCurve: 'P-256' }) }), /not an RSA key/],
    ['a short key', () => keyFile({ private_key: pemOf('rsa', { modulusLength: 1024 }) }), /2048 bits/],
    ['no endpoint', () => keyFile({ token_uri: undefined }), /no "token_uri"/],
    ['an endpoint without encryption', () => keyFile({ token_uri: 'http://workspace.example/token' }), /https/],
    ['an endpoint that is no address', () => keyFile({ token_uri: 'token' }), /https/],
    ['an endpoint with a password', () => keyFile({ token_uri: 'https://a:b@workspace.example/token' }), /https/],
  ];
  for (const [title, file, says] of cases) {
    it(`is refused for ${title}, with an error that quotes nothing`, () => {
      const error = failureOf(file());
      expect(error).to.be.instanceOf(OAuthConfigError);
      expect(error.message).to.match(says);
      expect(error.cause).to.equal(undefined);
      expect(inspect(error)).not.to.match(/BEGIN|MII|robot|workspace\.example|authorized_user|a:b/);
    });
  }
});
