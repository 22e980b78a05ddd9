import{a}from"./chunk-ZGDPYYYS.js";import"./chunk-C3I2UNFI.js";import"./chunk-KAARJU4X.js";export{a as Here};
