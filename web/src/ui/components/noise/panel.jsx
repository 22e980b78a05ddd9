// The parts that show noise once a chat has it: loaded as one file.
export { NoiseSeen } from './seen.jsx';
export { NoiseSettings } from './settings.jsx';
