import { Agent, request } from 'node:http';

const agent = new Agent({ keepAlive: true, maxSockets: 100 });

/** Sends a GET request to the application and returns the parsed body. */
export function callOut(port: number, path: string, token: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
    const sent = request({ agent, host: '127.0.0.1', port, path, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve(JSON.parse(text)));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end();
  });
}
