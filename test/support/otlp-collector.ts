import { createRequire } from 'node:module';

const load = createRequire(import.meta.url);

/** The parts of the package that are used. It has no types. */
interface MockPackage {
  MockOtlpServer: new (
    options: Record<string, unknown>,
  ) => {
    httpUrl: URL;
    start(): Promise<void>;
    close(): Promise<void>;
  };
}
interface MessageType {
  fromObject(plain: object): object;
  verify(message: object): string | null;
  encode(message: object): { finish(): Uint8Array };
  decode(bytes: Uint8Array): object;
  toObject(message: object, options: Record<string, unknown>): unknown;
}

export type Signal = 'traces' | 'metrics' | 'logs';

/** An independent collector by Elastic. It receives OTLP over HTTP and stores the parsed messages in `received`. */
export interface Collector {
  url: string;
  received: Record<Signal, object[]>;
  /** Removes the received messages. */
  clear(): void;
  stop(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const { MockOtlpServer } = load('@elastic/mockotlpserver') as MockPackage;
  const received: Collector['received'] = { traces: [], metrics: [], logs: [] };
  const server = new MockOtlpServer({
    services: ['http'],
    httpHostname: '127.0.0.1',
    httpPort: 0,
    logLevel: 'fatal',
    onTrace: (message: object) => received.traces.push(message),
    onMetrics: (message: object) => received.metrics.push(message),
    onLogs: (message: object) => received.logs.push(message),
  });
  await server.start();
  return {
    url: server.httpUrl.origin,
    received,
    clear() {
      for (const messages of Object.values(received)) messages.length = 0;
    },
    stop: () => server.close(),
  };
}

const TYPES: Record<Signal, string> = {
  traces: 'trace.v1.ExportTraceServiceRequest',
  metrics: 'metrics.v1.ExportMetricsServiceRequest',
  logs: 'logs.v1.ExportLogsServiceRequest',
};
/**
 * OTLP encodes these bytes in hexadecimal, unlike the JSON of Protocol Buffers (OTLP 1.4, "JSON Protobuf Encoding").
 */
const ID_BYTES: Record<string, number> = { traceId: 16, spanId: 8, parentSpanId: 8 };

/**
 * Validates a message against the schema of OpenTelemetry: its `.proto` files, which the package contains, read by
 * protobufjs. A message is valid if its binary encoding has every field and value of its JSON.
 *
 * @returns the paths of the fields that the schema does not have or whose values are lost; empty for a valid message
 */
export function schemaProblems(signal: Signal, message: object): string[] {
  const { getProtoRoot } = load('@elastic/mockotlpserver/lib/proto.js') as {
    getProtoRoot(): { lookupType(name: string): MessageType };
  };
  const type = getProtoRoot().lookupType(`opentelemetry.proto.collector.${TYPES[signal]}`);
  const parsed = type.fromObject(withIds(message, (hex) => Buffer.from(hex, 'hex')) as object);
  const invalid = type.verify(parsed);
  if (invalid) return [invalid];
  const decoded = type.decode(type.encode(parsed).finish());
  const options = { longs: String, enums: Number, bytes: Buffer, defaults: true, oneofs: false };
  const kept = withIds(type.toObject(decoded, options), (bytes) => Buffer.from(bytes as never).toString('hex'));
  return [...differences(message, kept, ''), ...badIds(message, '')];
}

/** Copies a message with its ids converted. */
function withIds(value: unknown, convert: (id: string) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withIds(item, convert));
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value;
  const entries = Object.entries(value).map(([name, item]) => [
    name,
    name in ID_BYTES ? convert(item) : withIds(item, convert),
  ]);
  return Object.fromEntries(entries);
}

function differences(sent: unknown, kept: unknown, path: string): string[] {
  if (Array.isArray(sent)) {
    if (!Array.isArray(kept) || kept.length !== sent.length) return [path];
    return sent.flatMap((item, place) => differences(item, kept[place], `${path}[${place}]`));
  }
  if (typeof sent === 'object' && sent !== null) {
    if (typeof kept !== 'object' || kept === null) return [path];
    return Object.entries(sent).flatMap(([name, item]) =>
      item === undefined ? [] : differences(item, (kept as Record<string, unknown>)[name], `${path}.${name}`),
    );
  }
  // Numbers of 64 bits may be numbers or texts.
  const isKept = typeof sent === 'number' ? Number(kept) === sent : kept === sent;
  return isKept ? [] : [path];
}

function badIds(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) => {
    const bytes = ID_BYTES[name];
    const place = `${path}.${name}`;
    if (bytes === undefined) return badIds(item, place);
    return typeof item === 'string' && item.length === bytes * 2 ? [] : [place];
  });
}
