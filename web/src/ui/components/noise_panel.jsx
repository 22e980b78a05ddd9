// What is shown of noise once a chat has it: loaded as one file.
export { NoiseSeen } from './noise_seen.jsx';
export { NoiseSettings } from './noise_settings.jsx';
