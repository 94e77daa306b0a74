import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A certificate with its key, created for one test run and never stored. */
export interface Certificate {
  cert: string;
  key: string;
  name: string;
  privateKey: KeyObject;
}

export interface CertificateOptions {
  name: string;
  /** Names of the subject: host names, or IPv4 addresses. */
  altNames?: readonly string[];
  /** Self-signed if absent. */
  issuer?: Certificate;
  authority?: boolean;
  notBefore?: Date;
  notAfter?: Date;
}

const OID = { ecdsaWithSha256: '2a8648ce3d040302', commonName: '550403', altName: '551d11', constraints: '551d13' };

/** Creates an X.509 v3 certificate (RFC 5280 §4.1) with a new P-256 key. */
export function makeCertificate(options: CertificateOptions): Certificate {
  const { name, issuer, altNames = [], authority = false } = options;
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid(OID.ecdsaWithSha256));
  const extensions = [
    ...(authority ? [extension(OID.constraints, sequence(der(0x01, Buffer.of(0xff))))] : []),
    ...(altNames.length > 0 ? [extension(OID.altName, sequence(...altNames.map(generalName)))] : []),
  ];
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    algorithm,
    distinguishedName(issuer?.name ?? name),
    sequence(
      time(options.notBefore ?? new Date('2020-01-01T00:00:00Z')),
      time(options.notAfter ?? new Date('2099-01-01T00:00:00Z')),
    ),
    distinguishedName(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign('sha256', body, issuer?.privateKey ?? privateKey);
  const certificate = sequence(body, algorithm, der(0x03, Buffer.concat([Buffer.of(0), signature])));
  return {
    cert: pem(certificate),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    name,
    privateKey,
  };
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), der(0x04, value));
}

function distinguishedName(name: string): Buffer {
  return sequence(der(0x31, sequence(oid(OID.commonName), der(0x0c, Buffer.from(name)))));
}

function generalName(name: string): Buffer {
  const isAddress = /^[\d.]+$/.test(name);
  return isAddress ? der(0x87, Buffer.from(name.split('.').map(Number))) : der(0x82, Buffer.from(name));
}

function time(date: Date): Buffer {
  return der(0x18, Buffer.from(date.toISOString().replace(/[-:T]|\.\d+/g, '')));
}

function pem(certificate: Buffer): string {
  const lines = certificate.toString('base64').replace(/.{64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}
