import{a}from"./chunk-WH5OZR2S.js";import"./chunk-RD6WUJC6.js";import"./chunk-ZMPHNN45.js";export{a as Here};
