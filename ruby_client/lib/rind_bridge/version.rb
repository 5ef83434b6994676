# frozen_string_literal: true

module RindBridge
  VERSION = '0.2.0'
end
