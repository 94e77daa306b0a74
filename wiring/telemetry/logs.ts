import { type Attributes, type Context, type Logger, SeverityNumber } from '@opentelemetry/api';

const SEVERITIES: Readonly<Record<number, [SeverityNumber, string]>> = {
  10: [SeverityNumber.TRACE, 'TRACE'],
  20: [SeverityNumber.DEBUG, 'DEBUG'],
  30: [SeverityNumber.INFO, 'INFO'],
  40: [SeverityNumber.WARN, 'WARN'],
  50: [SeverityNumber.ERROR, 'ERROR'],
  60: [SeverityNumber.FATAL, 'FATAL'],
};

interface Line {
  level: number;
  time: string;
  msg?: string;
  err?: { type?: string; message?: string; stack?: string };
  [field: string]: unknown;
}

/** Sends a line of the log as a record of the active span. */
export function sendLine(logger: Logger, line: string, context: Context): void {
  const { level, time, msg = '', err, ...fields } = JSON.parse(line) as Line;
  const [severityNumber, severityText] = SEVERITIES[level] ?? [SeverityNumber.UNSPECIFIED, ''];
  logger.emit({
    timestamp: new Date(time),
    severityNumber,
    severityText,
    body: msg,
    attributes: { ...flat(fields), ...(err && exceptionOf(err)) },
    context,
  });
}

function exceptionOf({ type, message, stack }: NonNullable<Line['err']>): Attributes {
  return { 'exception.type': type, 'exception.message': message, 'exception.stacktrace': stack };
}

function flat(fields: Record<string, unknown>): Attributes {
  const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, isScalar(value) ? value : JSON.stringify(value)]),
  ) as Attributes;
}
