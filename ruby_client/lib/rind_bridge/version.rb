# frozen_string_literal: true

module RindBridge
  VERSION = '0.1.0'
end
